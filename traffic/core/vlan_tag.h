/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds and removes the 802.1Q tag of a frame whose first segment holds the Ethernet header. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <rte_mbuf.h>

#include "wire/bytes.h"
#include "wire/ip.h"

#define VLAN_TAG_SIZE 4
#define VLAN_IDS 4096
#define VLAN_ADDRESSES 12 /* bytes before the tag */

/* Inserts a tag. The mbuf must have the headroom. */
static inline void vlan_tag_put(struct rte_mbuf *m, uint16_t vlan) {
	uint8_t *frame;

	m->data_off = (uint16_t)(m->data_off - VLAN_TAG_SIZE);
	m->data_len = (uint16_t)(m->data_len + VLAN_TAG_SIZE);
	m->pkt_len += VLAN_TAG_SIZE;
	frame = rte_pktmbuf_mtod(m, uint8_t *);
	memmove(frame, frame + VLAN_TAG_SIZE, VLAN_ADDRESSES);
	store_be16(frame + VLAN_ADDRESSES, ETHERTYPE_VLAN);
	store_be16(frame + VLAN_ADDRESSES + 2, vlan);
}

static inline bool vlan_has_tag(const struct rte_mbuf *m) {
	return rte_pktmbuf_data_len(m) >= ETHERNET_HEADER + VLAN_TAG_SIZE &&
	       load_be16(rte_pktmbuf_mtod_offset(m, const uint8_t *, VLAN_ADDRESSES)) ==
		       ETHERTYPE_VLAN;
}

/* Removes the tag of a frame that has one. Returns its VLAN ID; 0: a priority tag. */
static inline uint16_t vlan_tag_remove(struct rte_mbuf *m) {
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	uint16_t vlan = load_be16(frame + VLAN_ADDRESSES + 2) % VLAN_IDS;

	memmove(frame + VLAN_TAG_SIZE, frame, VLAN_ADDRESSES);
	rte_pktmbuf_adj(m, VLAN_TAG_SIZE);
	return vlan;
}
