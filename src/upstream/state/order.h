/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Puts numbered mbufs into order within a bounded window: PSP packets of a session, segments of a SID
 * cluster. Numbers wrap at a power of two. The rules are those of docs/upstream.md.
 *
 *     given up   next            next + window
 *     . . . . .  ?  ?  x  ?  x   |
 *                missing  waits
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#define ORDER_SLOTS 64 /* the largest window */
#define ORDER_PATIENCE 64 /* late or duplicate ones in a row, until the count begins anew */
#define ORDER_SILENCE \
	UINT64_C(1000000000) /* ns without any, after which the first of them does so */

/* Mbufs that wait, by the lowest bits of their numbers. */
struct order_slots {
	struct rte_mbuf *at[ORDER_SLOTS];
	struct order_slots *next_free;
};

struct order {
	struct order_slots *slots; /* only while something waits */
	uint64_t last; /* ns, when a number was offered */
	uint64_t delivered; /* bit i: number next - 1 - i was delivered */
	uint16_t mask; /* all bits of a number */
	uint16_t next;
	uint16_t highest; /* of those that wait */
	uint8_t window; /* at most ORDER_SLOTS - 1 */
	uint8_t waiting;
	uint8_t rejected; /* in a row */
	bool started;
};

enum order_verdict {
	ORDER_NEXT, /* to be delivered now; order_pop() may have more */
	ORDER_WAITS, /* kept */
	ORDER_NO_SLOTS, /* it would have to wait, and `slots` is NULL: give it some, or skip */
	ORDER_TOO_FAR, /* order_skip() must come first */
	ORDER_DUPLICATE,
	ORDER_LATE,
	ORDER_RESTART, /* late, but for too often: order_skip() all, then order_restart() */
};

void order_init(struct order *o, uint16_t mask, uint8_t window);

/*
 * Offers a number. With ORDER_WAITS the mbuf belongs to the window, otherwise to the caller.
 * `reordered` is set where it came in time, but behind a later one.
 */
enum order_verdict order_take(struct order *o, uint16_t number, struct rte_mbuf *m,
			      bool *reordered);

/* The next mbuf in order, NULL while it is missing. */
struct rte_mbuf *order_pop(struct order *o);

/*
 * Gives up the run of missing numbers up to the first mbuf that waits, or up to `number`, if that comes
 * first and `has_number`. Returns how many numbers were passed over.
 */
unsigned order_skip(struct order *o, bool has_number, uint16_t number);

/* Tells the time of the next offer: a device or modem that was silent for so long may have begun anew,
 * and nothing of before is under way any more. */
static inline void order_time(struct order *o, uint64_t now) {
	if (now - o->last >= ORDER_SILENCE)
		o->rejected = ORDER_PATIENCE;
	o->last = now;
}

/* Begins anew: the next number is `number`. Nothing may wait. */
void order_restart(struct order *o, uint16_t number);
