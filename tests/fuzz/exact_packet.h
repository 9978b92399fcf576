/* SPDX-License-Identifier: BSD-3-Clause */
/* Packets in memory of exactly their size: the address sanitizer detects any access beyond them. */
#pragma once

#include <stdlib.h>
#include <string.h>

#include <rte_mbuf.h>

#include "fuzz.h"

static inline void exact_packet_free(void *bytes, void *shared) {
	free(bytes);
	free(shared);
}

/* A packet with a copy of `frame`. Returns NULL if the pool is empty. The buffers of the pool need no data room. */
static inline struct rte_mbuf *exact_packet(struct rte_mempool *pool, const uint8_t *frame,
					    size_t size) {
	struct rte_mbuf *m = rte_pktmbuf_alloc(pool);
	struct rte_mbuf_ext_shared_info *shared;
	uint8_t *bytes;

	if (m == NULL)
		return NULL;
	bytes = malloc(size > 0 ? size : 1);
	shared = calloc(1, sizeof(*shared));
	CHECK(bytes != NULL && shared != NULL);
	memcpy(bytes, frame, size);
	shared->free_cb = exact_packet_free;
	shared->fcb_opaque = shared;
	rte_mbuf_ext_refcnt_set(shared, 1);
	rte_pktmbuf_attach_extbuf(m, bytes, RTE_BAD_IOVA, (uint16_t)size, shared);
	m->data_off = 0;
	m->data_len = (uint16_t)size;
	m->pkt_len = (uint32_t)size;
	return m;
}
