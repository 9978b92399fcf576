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
static bool may_receive(const struct us_receive *stage) {
	return stage->bursts->count < BACKLOG && stage->segments->count < BACKLOG &&
	       stage->bursts->buffers + stage->segments->buffers < stage->max_queued &&
	       stage->r->crypto->pending < IN_CRYPTO &&
	       stage->transmit->count < stage->transmit->max;
}

bool us_receive_flushed(const struct us_receive *stage) {
	return stage->bursts->count == 0 && stage->segments->count == 0 &&
	       stage->extract->cursor.segment == NULL;
}

/*
 * Records that the source had no more packets; `emptied` was read before the burst.
 *
 * Behind a ring, packets may still be in the port or with the port owner, which counts its polls
 * that find the port empty. The second such poll after `emptied_read_at` also began after it. So the ring
 * has all packets that were in the port at `emptied_read_at`, and the workers need no common clock.
 */
static void source_was_empty(struct us_receive *stage, uint64_t emptied) {
	if (stage->r->rphy.ring == NULL || stage->closed) {
		stage->empty_at = stage->r->clock->now;
	} else if (emptied - stage->emptied_read >= 2) {
		stage->empty_at = stage->emptied_read_at;
		stage->emptied_read = emptied;
		stage->emptied_read_at = stage->r->clock->now;
	}
}

uint16_t us_receive(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_receive *stage = ctx;
	bool flushed = us_receive_flushed(stage);
	uint64_t bytes = 0, emptied;

	(void)n;
	if (flushed)
		stage->flushed_until = stage->empty_at;
	if (!stage->closed && !may_receive(stage))
		return 0;
	emptied = packet_source_emptied(&stage->r->rphy);
	n = stage->closed ? 0 : packet_source_burst(&stage->r->rphy, pkts, US_RECEIVE_BURST);
	latency_arrive(stage->latency, pkts, n);
	if (n < US_RECEIVE_BURST)
		source_was_empty(stage, emptied);
	if (n == 0 && flushed)
		stage->flushed_until = stage->empty_at;
	for (uint16_t i = 0; i < n; i++) {
		rte_prefetch0(rte_pktmbuf_mtod(pkts[i], void *));
		bytes += rte_pktmbuf_pkt_len(pkts[i]);
	}
	if (!stage->closed)
		poll_stats_count_poll(stage->effort, n);
	count(stage->counters, COUNTER_RECEIVED, n);
	count(stage->counters, COUNTER_RECEIVED_BYTES, bytes);
	return n;
}
