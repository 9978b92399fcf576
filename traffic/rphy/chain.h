/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequential reader of a frame that may be a chain of mbufs. */
#pragma once

#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_memcpy.h>

struct chain {
	const struct rte_mbuf *m;
	uint32_t start; /* offset in the frame of the first byte of `m` */
};

/* Copies `size` bytes of the frame from offset `at`, which must not be before that of an earlier call. */
static inline void chain_read(struct chain *c, uint32_t at, uint32_t size, uint8_t *to) {
	while (size > 0) {
		uint32_t part;

		while (at - c->start >= c->m->data_len) {
			c->start += c->m->data_len;
			c->m = c->m->next;
		}
		part = RTE_MIN(size, c->start + c->m->data_len - at);
		rte_memcpy(to, rte_pktmbuf_mtod_offset(c->m, const uint8_t *, at - c->start), part);
		at += part;
		to += part;
		size -= part;
	}
}
