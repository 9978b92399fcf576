/* SPDX-License-Identifier: BSD-3-Clause */
/* A chain of buffers that grows at its end. */
#pragma once

#include <stddef.h>

#include <rte_mbuf.h>

struct us_chain {
	struct rte_mbuf *first, *last; /* NULL while it is empty */
};

/* Appends one buffer; rte_pktmbuf_chain() would walk to the end of the chain each time. */
static inline void us_chain_append(struct us_chain *c, struct rte_mbuf *m) {
	if (c->first == NULL) {
		c->first = m;
	} else {
		c->last->next = m;
		c->first->nb_segs++;
		c->first->pkt_len += m->data_len;
	}
	c->last = m;
}

/* Returns the whole chain, which the caller owns then, and empties it. */
static inline struct rte_mbuf *us_chain_detach(struct us_chain *c) {
	struct rte_mbuf *m = c->first;

	*c = (struct us_chain){0};
	return m;
}
