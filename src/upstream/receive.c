/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Receive: a burst of L2TPv3 packets from the R-PHY port.
 *
 * While later stages are behind, packets stay in the port, so that the queues of the stage list
 * stay bounded.
 */
#include "upstream/receive.h"

/* Queued bursts and segments, and frames in the crypto provider, at which receiving stops. */
#define BACKLOG 64
#define IN_CRYPTO 512

/* Whether the queues are below their limits. Pending buffers have limits of their own. */
static bool may_receive(const struct us_receive *own) {
	return own->bursts->count < BACKLOG && own->segments->count < BACKLOG &&
	       own->bursts->buffers + own->segments->buffers < own->most_queued &&
	       own->r->crypto->pending < IN_CRYPTO && own->transmit->count < own->transmit->most;
}

/* Whether all received packets have reached the reorder queues and reassembly. */
static bool queues_flushed(const struct us_receive *own) {
	return own->bursts->count == 0 && own->segments->count == 0 &&
	       own->extract->cursor.segment == NULL;
}

/*
 * Records that the source had no more packets; `emptied` was read before the burst.
 *
 * Behind a ring, packets may still be in the port or with the port owner, which counts its polls
 * that find the port empty. The second such poll after `asked_at` also began after it. So the ring
 * has all packets that were in the port at `asked_at`, and the workers need no common clock.
 */
static void source_was_empty(struct us_receive *own, uint64_t emptied) {
	if (own->r->rphy.ring == NULL || own->closed) {
		own->empty_at = own->r->clock->now;
	} else if (emptied - own->asked >= 2) {
		own->empty_at = own->asked_at;
		own->asked = emptied;
		own->asked_at = own->r->clock->now;
	}
}

uint16_t us_receive(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_receive *own = ctx;
	bool flushed = queues_flushed(own);
	uint64_t bytes = 0, emptied;

	(void)n;
	if (flushed)
		own->flushed_until = own->empty_at;
	if (!own->closed && !may_receive(own))
		return 0;
	emptied = packet_source_emptied(&own->r->rphy);
	n = own->closed ? 0 : packet_source_burst(&own->r->rphy, pkts, US_RECEIVE_BURST);
	latency_arrive(own->latency, pkts, n);
	if (n < US_RECEIVE_BURST)
		source_was_empty(own, emptied);
	if (n == 0 && flushed)
		own->flushed_until = own->empty_at;
	for (uint16_t i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
		bytes += rte_pktmbuf_pkt_len(pkts[i]);
	}
	if (!own->closed)
		effort_poll(own->effort, n);
	count(own->counters, COUNTER_RECEIVED, n);
	count(own->counters, COUNTER_RECEIVED_BYTES, bytes);
	return n;
}
