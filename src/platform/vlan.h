/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds VLAN tags to sent packets and removes those of received packets. */
#pragma once

#include <rte_debug.h>
#include <rte_mbuf.h>

#include "wire/vlan.h"

/* Adds the tag of a VLAN, 1..VLAN_MAX. The frame has VLAN_TAG_SIZE bytes of headroom that are not shared. */
static inline void packet_tag(struct rte_mbuf *m, uint16_t vlan) {
	uint8_t *frame = (uint8_t *)rte_pktmbuf_prepend(m, VLAN_TAG_SIZE);

	RTE_VERIFY(frame != NULL);
	vlan_addresses_move(frame, frame + VLAN_TAG_SIZE);
	vlan_tag_write(frame + VLAN_ADDRESSES, vlan);
}

/* The same, but a priority tag gets the VLAN ID instead, and the frame keeps its priority (IEEE 802.1Q, 6.9). */
static inline void packet_tag_or_retag(struct rte_mbuf *m, uint16_t vlan) {
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	uint8_t *tag = frame + ETHERNET_HEADER;

	if (vlan_is_priority(frame, rte_pktmbuf_data_len(m)))
		store_be16(tag, (uint16_t)(load_be16(tag) | vlan));
	else
		packet_tag(m, vlan);
}

/* Removes the tag. The first buffer contains the header with the tag. */
static inline void packet_untag(struct rte_mbuf *m) {
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	vlan_addresses_move(frame + VLAN_TAG_SIZE, frame);
	rte_pktmbuf_adj(m, VLAN_TAG_SIZE);
}
