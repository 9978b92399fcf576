/* SPDX-License-Identifier: BSD-3-Clause */
/* The fields of a packet for lookup, filters and classifiers, in network order as rte_acl reads
 * it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "model/group/match.h"

/* Neither TCP nor UDP, or a later fragment: matches no port criterion. */
#define FLOW_NO_PORTS 0x01
/* Not IP, or IPv6 with extension headers: the flow cache keeps no results. */
#define FLOW_ALONE 0x02

/* 64-bit words in use: two for IPv4 and LLC, all five for IPv6. */
struct flow_key {
	uint8_t protocol;
	uint8_t tos;
	uint8_t family; /* enum rule_family */
	uint8_t flags; /* FLOW_* */
	uint16_t source_port, destination_port; /* 0 if there are none */
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

/* All fields but the addresses. */
static inline uint64_t flow_key_head(const struct flow_key *key) {
	uint64_t word;

	memcpy(&word, key, sizeof(word));
	return word;
}

static inline bool flow_key_same(const struct flow_key *a, const struct flow_key *b) {
	uint64_t differ = (flow_key_head(a) ^ flow_key_head(b)) | (a->words[0] ^ b->words[0]);

	if (a->family == RULE_IPV6)
		differ |= (a->words[1] ^ b->words[1]) | (a->words[2] ^ b->words[2]) |
			  (a->words[3] ^ b->words[3]);
	return differ == 0;
}
