/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expire: ends the waits of all stages, once per round.
 *
 * It skips missing PSP packets and segments, and the packets behind them go on. It drops incomplete
 * bursts, frames and fragments. No other stage ends a wait by time or for memory.
 */
#include "upstream/expire.h"

/* `timeout`: the timer expired; otherwise the memory is needed. */
static void pending_end(struct us_expire *stage, struct pending *h, bool timeout) {
	switch (h->kind) {
	case PENDING_PACKETS: us_packets_expire(stage->uepi, h); break;
	case PENDING_SEGMENTS: us_segments_expire(stage->reassemble, h); break;
	case PENDING_BURST: us_burst_expire(stage->uepi, h, timeout); break;
	case PENDING_FRAME: us_frame_expire(stage->streams, h, timeout); break;
	case PENDING_FRAGMENTS: us_fragments_expire(stage->defragment, h, timeout); break;
	case PENDING_KINDS: break;
	}
}

/* Whether the missing part may be in a queue: packets and segments whose timer expired go there. */
static bool is_queued(const struct us_expire *stage, enum pending_kind kind) {
	switch (kind) {
	case PENDING_SEGMENTS: return stage->receive->bursts->count > 0;
	case PENDING_FRAME:
	case PENDING_FRAGMENTS: return !us_receive_flushed(stage->receive);
	default: return false;
	}
}

/* Timers use `flushed_until` as the time, as missing packets may be in the port or in a queue. */
uint16_t us_expire(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_expire *stage = ctx;
	uint64_t until = stage->receive->flushed_until;
	struct pending *h;
	bool timeout;

	(void)pkts;
	while ((h = pending_excess(stage->pending_set, until, &timeout)) != NULL) {
		if (timeout && is_queued(stage, h->kind))
			until = 0; /* no more timers in this round */
		else
			pending_end(stage, h, timeout);
	}
	while (stage->reorder_set->in_use > stage->reorder_set->max) {
		count(stage->counters, COUNTER_WINDOWS_FULL, 1);
		pending_end(stage, pending_oldest_gap(stage->pending_set), false);
	}
	return n;
}
