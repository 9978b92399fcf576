/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive: a burst of L2TPv3 packets from the R-PHY port. While the later stages have not caught up,
 * packets wait in the port, so that what is in the list stays bounded.
 */
#include "upstream/receive.h"

#include "upstream/upstream.h"

/* Bursts and segments on their way, and frames with the crypto provider, from where on none are taken. */
#define BACKLOG 64
#define IN_CRYPTO 512

/* What is held has a limit of its own; what is on its way keeps within `most_queued`. */
static bool list_has_room(const struct upstream *u) {
	const struct queue *bursts = &u->list.queues[US_BURSTS];
	const struct queue *segments = &u->list.queues[US_SEGMENTS];

	return bursts->count < BACKLOG && segments->count < BACKLOG &&
	       bursts->buffers + segments->buffers < u->receive.most_queued &&
	       u->r.crypto->held < IN_CRYPTO && u->transmit.count < u->transmit.most;
}

/* Whether what was received has come as far as what waits for it. */
static bool all_has_passed(const struct upstream *u) {
	return u->list.queues[US_BURSTS].count == 0 && u->list.queues[US_SEGMENTS].count == 0 &&
	       u->extract.cut.segment == NULL;
}

/*
 * The source had no more. Behind a ring, packets may still be in the port, or with the worker that asks it.
 * Of the times that it found the port empty, the second after our question began after that: what had
 * come to the port when we asked was then in the ring. So two workers need no clock in common.
 */
static void source_was_empty(struct upstream *u, uint64_t emptied) {
	struct us_receive *r = &u->receive;

	if (u->r.rphy.ring == NULL || r->closed) {
		r->empty_at = u->r.clock->now;
	} else if (emptied - r->asked >= 2) {
		r->empty_at = r->asked_at;
		r->asked = emptied;
		r->asked_at = u->r.clock->now;
	}
}

uint16_t us_receive(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct upstream *u = ctx;
	bool passed = all_has_passed(u);
	uint64_t bytes = 0, emptied;

	(void)n;
	if (passed)
		u->receive.passed_until = u->receive.empty_at;
	if (!u->receive.closed && !list_has_room(u))
		return 0;
	emptied = packet_source_emptied(&u->r.rphy);
	n = u->receive.closed ? 0 : packet_source_burst(&u->r.rphy, pkts, US_RECEIVE_BURST);
	latency_arrive(&u->latency, pkts, n);
	if (n < US_RECEIVE_BURST)
		source_was_empty(u, emptied);
	if (n == 0 && passed)
		u->receive.passed_until = u->receive.empty_at;
	for (uint16_t i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
		bytes += rte_pktmbuf_pkt_len(pkts[i]);
	}
	if (!u->receive.closed)
		effort_poll(&u->effort, n);
	count(&u->counters, COUNTER_RECEIVED, n);
	count(&u->counters, COUNTER_RECEIVED_BYTES, bytes);
	return n;
}
