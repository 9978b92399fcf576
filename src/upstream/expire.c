/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expire: ends the waits of all stages, once per round.
 *
 * It skips missing PSP packets and segments, and the packets behind them go on. It drops incomplete
 * bursts, frames and fragments. No other stage ends a wait by time or for memory.
 */
#include "upstream/expire.h"

/* `timeout`: the timer expired; otherwise the memory is needed. */
static void wait_end(struct us_expire *own, struct hold *h, bool timeout) {
	switch (h->kind) {
	case HOLD_PACKETS: us_packets_expire(own->uepi, h); break;
	case HOLD_SEGMENTS: us_segments_expire(own->reassemble, h); break;
	case HOLD_BURST: us_burst_expire(own->uepi, h, timeout); break;
	case HOLD_FRAME: us_frame_expire(own->streams, h, timeout); break;
	case HOLD_FRAGMENTS: us_fragments_expire(own->defragment, h, timeout); break;
	case HOLD_KINDS: break;
	}
}

/* Missing packets may still be in the port or in a queue, so timers use the time `passed_until`. */
uint16_t us_expire(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct us_expire *own = ctx;
	struct hold *h;
	bool timeout;

	(void)pkts;
	while ((h = holds_excess(own->holds, own->receive->passed_until, &timeout)) != NULL)
		wait_end(own, h, timeout);
	while (own->lanes->in_use > own->lanes->most) {
		count(own->counters, COUNTER_WINDOWS_FULL, 1);
		wait_end(own, holds_oldest_gap(own->holds), false);
	}
	return n;
}
