/* SPDX-License-Identifier: BSD-3-Clause */
/* The tags of VLANs in packets: on the way out they are put on, on the way in they are taken off. */
#pragma once

#include <rte_debug.h>
#include <rte_mbuf.h>

#include "wire/vlan.h"

/* Puts the tag of a VLAN, 1..VLAN_MAX, on a frame before which as many bytes are nobody else's. */
static inline void packet_tag(struct rte_mbuf *m, uint16_t vlan) {
	uint8_t *frame = (uint8_t *)rte_pktmbuf_prepend(m, VLAN_TAG_SIZE);

	RTE_VERIFY(frame != NULL);
	vlan_addresses_move(frame, frame + VLAN_TAG_SIZE);
	vlan_tag_write(frame + VLAN_ADDRESSES, vlan);
}

/* The same, where a tag without a VLAN becomes its tag: the frame's priority stays (IEEE 802.1Q, 6.9). */
static inline void packet_tag_or_retag(struct rte_mbuf *m, uint16_t vlan) {
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);
	uint8_t *tag = frame + ETHERNET_HEADER;

	if (vlan_is_priority(frame, rte_pktmbuf_data_len(m)))
		store_be16(tag, (uint16_t)(load_be16(tag) | vlan));
	else
		packet_tag(m, vlan);
}

/* Takes the tag off. The first buffer holds the header with the tag. */
static inline void packet_untag(struct rte_mbuf *m) {
	uint8_t *frame = rte_pktmbuf_mtod(m, uint8_t *);

	vlan_addresses_move(frame + VLAN_TAG_SIZE, frame);
	rte_pktmbuf_adj(m, VLAN_TAG_SIZE);
}
