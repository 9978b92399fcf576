/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Unbounded queues of packets between stages of one worker. A zeroed queue is empty.
 *
 * The first bytes of a packet's metadata link it to the next packet, so nothing else may be
 * there while the packet is in a queue. A queued packet keeps its number of buffers.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "pipeline/packet.h"

struct queue {
	struct rte_mbuf *first, *last;
	uint32_t count; /* packets */
	uint32_t buffers; /* mbufs of all packets */
};

static inline struct rte_mbuf **queue_next(struct rte_mbuf *m) {
	return RTE_MBUF_DYNFIELD(m, packet_meta_offset, struct rte_mbuf **);
}

static inline void queue_add(struct queue *q, struct rte_mbuf *m) {
	*queue_next(m) = NULL;
	if (q->first == NULL)
		q->first = m;
	else
		*queue_next(q->last) = m;
	q->last = m;
	q->count++;
	q->buffers += m->nb_segs;
}

/* Removes the first packet and returns it; NULL if the queue is empty. */
static inline struct rte_mbuf *queue_remove(struct queue *q) {
	struct rte_mbuf *m = q->first;

	if (m != NULL) {
		q->first = *queue_next(m);
		q->count--;
		q->buffers -= m->nb_segs;
	}
	return m;
}

/* Removes up to `max` packets from the front. Returns their number. */
static inline uint16_t queue_remove_burst(struct queue *q, struct rte_mbuf **pkts, uint16_t max) {
	uint16_t n = 0;

	while (n < max && q->first != NULL)
		pkts[n++] = queue_remove(q);
	return n;
}
