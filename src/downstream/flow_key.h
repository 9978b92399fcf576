/* SPDX-License-Identifier: BSD-3-Clause */
/* What lookup, filters and classifiers ask of a packet: in network order, as rte_acl reads it. */
#pragma once

#include <stdint.h>

/* Of an IPv4 packet the first two words are used, of an IPv6 packet all five. */
struct flow_key {
	uint8_t protocol;
	uint8_t tos;
	uint8_t family; /* enum rule_family */
	uint8_t unused; /* 0 */
	uint16_t source_port, destination_port; /* 0 where none */
	union {
		struct {
			uint8_t source[4], destination[4];
		} ipv4;
		struct {
			uint8_t source[16], destination[16];
		} ipv6;
		struct {
			uint32_t ethertype;
		} llc;
		uint64_t words[4];
	};
};
