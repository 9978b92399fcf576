/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Expire: the end of waits of all rows, once a round. Missing PSP packets and segments are passed over, and what waited
 * behind them goes on; incomplete bursts, frames and fragments are dropped. Nothing else ends a wait by time, or
 * because its memory is needed.
 */
#include "upstream/upstream.h"

/* `timeout` tells whether its time was over; otherwise its memory is needed for others. */
static void wait_end(struct upstream *u, struct hold *h, bool timeout) {
	switch (h->kind) {
	case HOLD_PACKETS: us_packets_expire(u, h); break;
	case HOLD_SEGMENTS: us_segments_expire(u, h); break;
	case HOLD_BURST: us_burst_expire(u, h, timeout); break;
	case HOLD_FRAME: us_frame_expire(u, h, timeout); break;
	case HOLD_FRAGMENTS: us_fragments_expire(u, h, timeout); break;
	case HOLD_KINDS: break;
	}
}

/* What is waited for may stand in the port, or be on its way: no time runs out behind `passed_until`. */
uint16_t us_expire(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	struct upstream *u = ctx;
	struct hold *h;
	bool timeout;

	(void)pkts;
	while ((h = holds_excess(&u->holds, u->receive.passed_until, &timeout)) != NULL)
		wait_end(u, h, timeout);
	while (u->slots.in_use > u->slots.most) {
		count(&u->counters, COUNTER_WINDOWS_FULL, 1);
		wait_end(u, holds_oldest_gap(&u->holds), false);
	}
	return n;
}
