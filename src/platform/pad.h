/* SPDX-License-Identifier: BSD-3-Clause */
/* The minimum length of Ethernet frames (IEEE 802.3, 3.2.8). Shorter frames are padded with zeros. */
#pragma once

#include <stdbool.h>
#include <string.h>

#include <rte_ether.h>
#include <rte_mbuf.h>

#define ETHERNET_MIN_FRAME (RTE_ETHER_MIN_LEN - RTE_ETHER_CRC_LEN) /* bytes without the CRC */

/* Bytes missing from a frame in one buffer. */
static inline uint16_t packet_padding(const struct rte_mbuf *m) {
	return m->data_len < ETHERNET_MIN_FRAME ? (uint16_t)(ETHERNET_MIN_FRAME - m->data_len) : 0;
}

/* Pads a frame in one buffer to the minimum. Returns false without tailroom. */
static inline bool packet_pad(struct rte_mbuf *m) {
	uint16_t missing = packet_padding(m);
	char *end;

	if (missing == 0)
		return true;
	end = rte_pktmbuf_append(m, missing);
	if (end != NULL)
		memset(end, 0, missing);
	return end != NULL;
}
