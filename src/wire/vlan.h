/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The tag of a VLAN (IEEE 802.1Q, 9.6), between the addresses and the type of an Ethernet frame.
 *
 *     0            6            12      14        16
 *     +------------+------------+-------+---------+-------+------------------------+
 *     | DA         | SA         | 8100  | PCP|VID | type  | ..                     |
 *     +------------+------------+-------+---------+-------+------------------------+
 *
 *     020000000001 020000000101 8100 000A 0800 4510 ..    VLAN 10, priority 0, IPv4
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "wire/bytes.h"
#include "wire/ip.h"

#define VLAN_TAG_SIZE 4
#define VLAN_ADDRESSES 12 /* bytes before the tag */
#define VLAN_MAX 4094 /* 4095 is reserved; 0 is a priority tag without a VLAN */
#define VLAN_ID 0x0fff

static inline bool vlan_is_tag(uint16_t type) {
	return type == ETHERTYPE_VLAN || type == ETHERTYPE_SERVICE_VLAN;
}

/* Writes the tag of a VLAN, 1..VLAN_MAX, with priority 0. Returns VLAN_TAG_SIZE. */
static inline size_t vlan_tag_write(uint8_t *tag, uint16_t vlan) {
	store_be16(tag, ETHERTYPE_VLAN);
	store_be16(tag + 2, vlan);
	return VLAN_TAG_SIZE;
}

/* Whether the frame has a priority tag without a VLAN, which counts as untagged (IEEE 802.1Q,
 * 6.9). */
static inline bool vlan_is_priority(const uint8_t *frame, size_t length) {
	return length >= ETHERNET_HEADER + VLAN_TAG_SIZE &&
	       load_be16(frame + VLAN_ADDRESSES) == ETHERTYPE_VLAN &&
	       (load_be16(frame + ETHERNET_HEADER) & VLAN_ID) == 0;
}

/* Moves the addresses of a frame by the size of a tag, in either direction. */
static inline void vlan_addresses_move(uint8_t *to, const uint8_t *from) {
	uint8_t addresses[VLAN_ADDRESSES];

	memcpy(addresses, from, sizeof(addresses));
	memcpy(to, addresses, sizeof(addresses));
}
