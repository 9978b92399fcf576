/* SPDX-License-Identifier: BSD-3-Clause */
/* The service group of the rig, as YAML; with double quotes it is JSON, as a server returns it. Two
 * bonded channels and one other, modems with and without AES, flows with and without DSID. */
#pragma once

/* clang-format off */
static const char rig_config[] =
	"{'name': 'rig', 'service_group': '1', 'rphy': {'dscp': '4'}, 'channels': ["
	"{'id': '1', 'type': 'ofdm', 'rate': '1.89 Gbps', 'session': '0x00010001', 'pseudowire': 'psp-depi', "
	"'psp_extra': 'counter', 'profile': '3'}, "
	"{'id': '2', 'type': 'ofdm', 'rate': '1.89 Gbps', 'session': '0x00010002', 'pseudowire': 'psp-depi', "
	"'psp_extra': 'static', 'profile': '5'}, "
	"{'id': '3', 'type': 'sc-qam', 'rate': '42.24 Mbps', 'session': '0x00010003', 'pseudowire': 'psp-legacy', "
	"'psp_extra': 'none', 'profile': '0'}], "
	"'bonding_groups': [{'id': '1', 'channels': ['1', '2']}, {'id': '2', 'channels': ['3']}], "
	"'filter_groups': [{'id': '1', 'rules': ["
	"{'family': 'ipv4', 'action': 'deny', 'source': '198.18.0.0/24'}, "
	"{'family': 'ipv4', 'action': 'permit', 'source': '198.18.0.0/16', 'protocol': 'tcp'}, "
	"{'family': 'ipv6', 'action': 'permit', 'source': '2001:db8:9::/48', 'destination_ports': '1000-1999'}]}], "
	"'modems': ["
	"{'mac': '02:01:00:00:00:01', 'addresses': ['10.0.0.1', '2001:db8:0:1::1'], 'cpe_limit': '4', "
	"'filter_groups': ['1'], 'bonding_group': '1', 'security': {'said': '0x0001', 'cipher': 'aes-128', "
	"'key': '000102030405060708090a0b0c0d0e0f', 'iv': '101112131415161718191a1b1c1d1e1f', 'key_sequence': '1'}, "
	"'service_flows': [{'id': '1', 'priority': '0', 'dsid': '0x00001', 'buffer': '512 kB'}, "
	"{'id': '2', 'priority': '5', 'dsid': '0x00002', 'buffer': '512 kB'}], "
	"'classifiers': [{'family': 'ipv4', 'protocol': 'udp', 'destination_ports': '5004', 'service_flow': '2'}, "
	"{'family': 'ipv6', 'tos': '0xb8/0xfc', 'service_flow': '2'}]}, "
	"{'mac': '02:01:00:00:00:02', 'addresses': ['10.0.0.2'], 'cpe_limit': '4', "
	"'filter_groups': ['1'], 'bonding_group': '2', 'security': {'said': '0x0002', 'cipher': 'aes-128', "
	"'key': '0f0e0d0c0b0a09080706050403020100', 'iv': '101112131415161718191a1b1c1d1e1f', 'key_sequence': '4'}, "
	"'service_flows': [{'id': '3', 'priority': '0', 'buffer': '512 kB'}, "
	"{'id': '4', 'priority': '6', 'buffer': '512 kB'}], "
	"'classifiers': [{'family': 'ipv4', 'protocol': 'udp', 'destination_ports': '5004', 'service_flow': '4'}]}, "
	"{'mac': '02:01:00:00:00:03', 'addresses': ['10.0.0.3'], 'cpe_limit': '4', "
	"'filter_groups': ['1'], 'bonding_group': '1', 'security': {'said': '0x0003', 'cipher': 'none', "
	"'key_sequence': '0'}, "
	"'service_flows': [{'id': '5', 'priority': '0', 'dsid': '0x00005', 'buffer': '512 kB'}]}]}";
/* clang-format on */
