/* SPDX-License-Identifier: BSD-3-Clause */
/* The service group of the upstream's rig. */
#pragma once

#include "model/service_group.h"

/*
 * Channels: OFDMA with all sessions, SC-QAM without one for ranging, OFDMA with data only. Streams:
 *
 *     0  modem 0, AES, two keys   segment header, one cluster on channels 0 and 1
 *     1, 2                        segment header, clusters 2 and 5
 *     3  modem 1, AES             pre-3.0, on channel 1
 *     4  modem 2, in the clear    segment header, channel 0
 *     5  modem 3, in the clear    pre-3.0, channel 2
 *        modem 4 has no address
 *     6  modem 5, AES, two keys   pre-3.0, channel 0
 */
static inline void uplink_rig_config(struct service_group *sg, uint8_t family);

static struct upstream_channel uplink_rig_channels[] = {
	{1, UPSTREAM_OFDMA, 1000000000, 0x20001, 0x21001, 0x22001},
	{2, UPSTREAM_SC_QAM, 30000000, 0x20002, 0x21002, 0},
	{3, UPSTREAM_OFDMA, 1000000000, 0x20003, 0, 0},
};

static struct upstream_sid uplink_rig_sids[][2] = {
	{{0, 0x10}, {1, 0x10}}, /* stream 0 */
	{{0, 0x11}}, /* 1 */
	{{1, 0x12}, {2, 0x12}}, /* 2 */
	{{1, 0x20}}, /* 3 */
	{{0, 0x30}}, /* 4 */
	{{2, 0x3ffe}}, /* 5 */
	{{0, 0x50}}, /* of the modem without an address */
	{{0, 0x60}}, /* 6 */
};

static struct sid_cluster uplink_rig_clusters[] = {
	{0, uplink_rig_sids[0], 2}, {2, uplink_rig_sids[1], 1}, {5, uplink_rig_sids[2], 2},
	{0, uplink_rig_sids[3], 1}, {7, uplink_rig_sids[4], 1}, {0, uplink_rig_sids[5], 1},
	{0, uplink_rig_sids[6], 1}, {0, uplink_rig_sids[7], 1},
};

static struct upstream_service_flow uplink_rig_flows[] = {
	{100, true, &uplink_rig_clusters[0], 1},  {101, true, &uplink_rig_clusters[1], 2},
	{102, false, &uplink_rig_clusters[3], 1}, {103, true, &uplink_rig_clusters[4], 1},
	{104, false, &uplink_rig_clusters[5], 1}, {105, true, &uplink_rig_clusters[6], 1},
	{106, false, &uplink_rig_clusters[7], 1},
};

static struct ip_address uplink_rig_addresses[] = {
	{4, {10, 0, 0, 1}},
	{6, {0x20, 0x01, 0x0d, 0xb8, [15] = 1}},
	{4, {10, 0, 0, 2}},
	{6, {0x20, 0x01, 0x0d, 0xb8, [15] = 3}},
	{4, {10, 0, 0, 4}},
	{4, {10, 0, 0, 5}},
	{6, {0x20, 0x01, 0x0d, 0xb8, [15] = 5}},
};

#define UPLINK_RIG_MODEM(number, flow, flows, address, addresses_)                               \
	{                                                                                        \
		.mac = {2, 1, 0, 0, 0, number},                                                  \
		.upstream_flows = &uplink_rig_flows[flow],                                       \
		.upstream_flow_count = flows,                                                    \
		.addresses = &uplink_rig_addresses[address],                                     \
		.address_count = addresses_,                                                     \
		.security = {.cipher = CIPHER_AES_128,                                           \
			     .key = {number, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}, \
			     .iv = {number, 0xff, 0xee},                                         \
			     .key_sequence = 15,                                                 \
			     .has_next_key = true,                                               \
			     .next_key = {9, 9, number},                                         \
			     .next_iv = {0xaa, number}},                                         \
	}

static struct modem uplink_rig_modems[] = {
	UPLINK_RIG_MODEM(1, 0, 2, 0, 2), UPLINK_RIG_MODEM(2, 2, 1, 2, 1),
	UPLINK_RIG_MODEM(3, 3, 1, 3, 1), UPLINK_RIG_MODEM(4, 4, 1, 4, 1),
	UPLINK_RIG_MODEM(5, 5, 1, 5, 0), UPLINK_RIG_MODEM(6, 6, 1, 5, 2),
};

static inline void uplink_rig_config(struct service_group *sg, uint8_t family) {
	struct service_group config = {
		.max_frame = 2000,
		.rphy =
			{
				.core_mac = {2, 0, 0, 0, 0, 1},
				.rpd_mac = {2, 0, 0, 0, 0, 2},
				.core_ip = {family, {192, 168, 1, 1}},
				.rpd_ip = {family, {192, 168, 1, 2}},
				.mtu = 1500,
				.dscp = 4,
				.ttl = 64,
				.flush_ns = 50000,
				.max_segments = 16,
			},
		.upstream = {.frame_timeout_ns = 2000000000},
		.upstream_channels = uplink_rig_channels,
		.upstream_channel_count = 3,
		.modems = uplink_rig_modems,
		.modem_count = 6,
	};

	uplink_rig_modems[1].security.has_next_key = false;
	uplink_rig_modems[2].security.cipher = CIPHER_NONE;
	uplink_rig_modems[3].security.cipher = CIPHER_NONE;
	*sg = config;
}
