/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts numbered mbufs into order within a bounded window: PSP packets of a PSP flow or session,
 * segments of a SID cluster. Numbers wrap at a power of two. The rules are those of
 * docs/upstream.md.
 *
 *     skipped    next            next + window
 *     . . . . .  ?  ?  x  ?  x   |
 *                missing  pending
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#define ORDER_SLOTS 64 /* the largest window */
/* Late or duplicate numbers in sequence, after which the next one restarts the order. */
#define ORDER_REJECT_MAX 64
#define ORDER_SILENCE \
	UINT64_C(1000000000) /* ns without a number, after which the next late one restarts, too */

/* Mbufs ahead of a gap, indexed by the low bits of their numbers. */
struct order_slots {
	struct rte_mbuf *at[ORDER_SLOTS];
	struct order_slots *next_free;
};

struct order {
	struct order_slots *slots; /* NULL while no mbuf is pending */
	uint64_t last; /* ns, when the last number was offered */
	uint64_t delivered; /* bit i: number next - 1 - i was delivered */
	uint16_t mask; /* all bits of a number */
	uint16_t next;
	uint16_t highest; /* of the pending mbufs */
	uint8_t window; /* at most ORDER_SLOTS - 1 */
	uint8_t queued;
	uint8_t rejected; /* late or duplicate numbers in sequence */
	bool started;
};

enum order_verdict {
	ORDER_NEXT, /* deliver it now; order_pop() may return more */
	ORDER_KEPT, /* the window keeps it */
	ORDER_NO_SLOTS, /* `slots` is NULL: the caller sets it or skips, and offers again */
	ORDER_TOO_FAR, /* the caller must call order_skip() first */
	ORDER_DUPLICATE,
	ORDER_LATE,
	ORDER_RESTART, /* ORDER_REJECT_MAX reached: skip all, then call order_restart() */
};

void order_init(struct order *o, uint16_t mask, uint8_t window);

/* Offers a number. With ORDER_KEPT the window owns the mbuf, otherwise the caller. Sets
 * `reordered` if the number came in time, but after a higher one. */
enum order_verdict order_offer(struct order *o, uint16_t number, struct rte_mbuf *m,
			       bool *reordered);

/* The next mbuf in order; NULL while it is missing. */
struct rte_mbuf *order_pop(struct order *o);

/* Skips the missing numbers up to the first pending mbuf. If none is pending and `has_number` is
 * set, it skips up to `number`. Returns how many numbers it skipped. */
unsigned order_skip(struct order *o, bool has_number, uint16_t number);

/* Sets the time of the next offer. After ORDER_SILENCE the device or modem may have restarted
 * its numbers, and no earlier packet is on its way any more. */
static inline void order_time(struct order *o, uint64_t now) {
	if (now - o->last >= ORDER_SILENCE)
		o->rejected = ORDER_REJECT_MAX;
	o->last = now;
}

/* Restarts with `number` as the next number. No mbuf may be pending. */
void order_restart(struct order *o, uint16_t number);
