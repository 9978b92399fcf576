/* SPDX-License-Identifier: BSD-3-Clause */
/* The minimum length of Ethernet frames (IEEE 802.3, 3.2.8). Shorter frames are padded with zeros. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#define ETHERNET_LEAST (RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN) /* bytes without the CRC */

/* Bytes missing from a frame in one buffer. */
static inline uint16_t packet_lacks(const struct rte_mbuf *m) {
	return m->data_len < ETHERNET_LEAST ? (uint16_t)(ETHERNET_LEAST - m->data_len) : 0;
}

/* Pads a frame in one buffer to the minimum. Returns false without tailroom. */
static inline bool packet_pad(struct rte_mbuf *m) {
	uint16_t lacks = packet_lacks(m);
	char *end;

	if (lacks == 0)
		return true;
	end = rte_pktmbuf_append(m, lacks);
	if (end != NULL)
		memset(end, 0, lacks);
	return end != NULL;
}
