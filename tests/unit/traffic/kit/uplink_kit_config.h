/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service group of uplink_kit.h. Channels: OFDMA with all sessions, SC-QAM without ranging
 * session, OFDMA with data session only. Streams:
 *
 *     0  modem 0, AES, two keys   segment header, one cluster on channels 0 and 1
 *     1, 2                        segment header, clusters 2 and 5
 *     3  modem 1, AES             pre-3.0, on channel 1
 *     4  modem 2, in the clear    segment header, channel 0
 *     5  modem 3, in the clear    pre-3.0, channel 2
 *        modem 4 has no address, and no stream
 *     6  modem 5, AES, two keys   pre-3.0, channel 0
 */
#pragma once

/* clang-format off */
static const char uplink_kit_config[] =
	"max_modems: 16\n"
	"upstream: {frame_timeout: 2 s}\n"
	"rphy: {dscp: 4}\n"
	"channels: [{id: 1, type: ofdm, rate: 1 Gbps, session: 7}]\n"
	"bonding_groups: [{id: 1, channels: [1]}]\n"
	"upstream_channels:\n"
	"- {id: 1, type: ofdma, rate: 1 Gbps, session: 0x20001, request_session: 0x21001, ranging_session: 0x22001}\n"
	"- {id: 2, type: sc-qam, rate: 30 Mbps, session: 0x20002, request_session: 0x21002}\n"
	"- {id: 3, type: ofdma, rate: 1 Gbps, session: 0x20003}\n"
	"modems:\n"
	"- {mac: '02:01:00:00:00:01', addresses: [10.0.0.1, '2001:db8::1'], bonding_group: 1, service_flows: [{id: 1}],\n"
	"  security: {said: 1, key: '010102030405060708090a0b0c0d0e0f', iv: '01ffee00000000000000000000000000', key_sequence: 15,\n"
	"  next_key: '09090100000000000000000000000000', next_iv: 'aa010000000000000000000000000000'},\n"
	"  upstream_service_flows: [{id: 100, sid_clusters: [{id: 0, sids: [{channel: 1, sid: 0x10}, {channel: 2, sid: 0x10}]}]},\n"
	"  {id: 101, sid_clusters: [{id: 2, sids: [{channel: 1, sid: 0x11}]}, {id: 5, sids: [{channel: 2, sid: 0x12}, {channel: 3, sid: 0x12}]}]}]}\n"
	"- {mac: '02:01:00:00:00:02', addresses: [10.0.0.2], bonding_group: 1, service_flows: [{id: 2}],\n"
	"  security: {said: 2, key: '020102030405060708090a0b0c0d0e0f', iv: '02ffee00000000000000000000000000', key_sequence: 15},\n"
	"  upstream_service_flows: [{id: 102, segment_header: false, sid_clusters: [{id: 0, sids: [{channel: 2, sid: 0x20}]}]}]}\n"
	"- {mac: '02:01:00:00:00:03', addresses: ['2001:db8::3'], bonding_group: 1, service_flows: [{id: 3}],\n"
	"  security: {said: 3, cipher: none},\n"
	"  upstream_service_flows: [{id: 103, sid_clusters: [{id: 7, sids: [{channel: 1, sid: 0x30}]}]}]}\n"
	"- {mac: '02:01:00:00:00:04', addresses: [10.0.0.4], bonding_group: 1, service_flows: [{id: 4}],\n"
	"  security: {said: 4, cipher: none},\n"
	"  upstream_service_flows: [{id: 104, segment_header: false, sid_clusters: [{id: 0, sids: [{channel: 3, sid: 0x3ffe}]}]}]}\n"
	"- {mac: '02:01:00:00:00:05', addresses: [10.0.0.9], bonding_group: 1, service_flows: [{id: 5}],\n"
	"  security: {said: 5, key: '050102030405060708090a0b0c0d0e0f', iv: '05ffee00000000000000000000000000', key_sequence: 15,\n"
	"  next_key: '09090500000000000000000000000000', next_iv: 'aa050000000000000000000000000000'},\n"
	"  upstream_service_flows: [{id: 105, sid_clusters: [{id: 0, sids: [{channel: 1, sid: 0x50}]}]}]}\n"
	"- {mac: '02:01:00:00:00:06', addresses: [10.0.0.5, '2001:db8::5'], bonding_group: 1, service_flows: [{id: 6}],\n"
	"  security: {said: 6, key: '060102030405060708090a0b0c0d0e0f', iv: '06ffee00000000000000000000000000', key_sequence: 15,\n"
	"  next_key: '09090600000000000000000000000000', next_iv: 'aa060000000000000000000000000000'},\n"
	"  upstream_service_flows: [{id: 106, segment_header: false, sid_clusters: [{id: 0, sids: [{channel: 1, sid: 0x60}]}]}]}\n";
/* clang-format on */
