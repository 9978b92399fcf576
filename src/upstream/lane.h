/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ordering with its accounts: what is too early waits and is held, what follows is delivered, what
 * does not come is given up. PSP packets and segments go the same way, each with its own names.
 */
#pragma once

#include "pipeline/counters.h"
#include "upstream/state/hold.h"
#include "upstream/state/order.h"

struct upstream;

/* Windows in which something waits, and those that are free, for all lanes. */
struct us_lane_slots {
	struct order_slots *all;
	struct order_slots *free;
	uint32_t in_use;
	uint32_t most; /* of those in use, once the row `expire` has run */
};

/* What packets and segments do differently; `owner` is whose numbers they are. */
struct us_lane_kind {
	void (*deliver)(struct upstream *u, void *owner, struct rte_mbuf *m);
	/* what comes next does not follow; `missing` is 0 where it is not known how much is */
	void (*gap)(struct upstream *u, void *owner, unsigned missing);
	enum counter reordered, resyncs;
	enum drop_reason duplicate, late;
};

struct us_lane {
	const struct us_lane_kind *kind;
	struct order *order;
	struct hold *hold;
	void *owner;
	uint32_t *waiting; /* counts those of all lanes of the kind */
};

/* Takes a numbered mbuf: delivers it and what follows, keeps it, or drops it. */
void us_lane_put(struct upstream *u, const struct us_lane *lane, uint16_t number,
		 struct rte_mbuf *m);

/* Gives up the first run of missing numbers and delivers what follows. */
void us_lane_skip(struct upstream *u, const struct us_lane *lane);

/* Drops what waits, for `reason`, as long as the budget (ns) is above 0; each buffer costs CHANGE_BUFFER_NS. Returns
 * whether that was all. */
bool us_lane_drop(struct upstream *u, const struct us_lane *lane, enum drop_reason reason,
		  int *budget);

/* Drops all that waits, for `reason`. */
void us_lane_stop(struct upstream *u, const struct us_lane *lane, enum drop_reason reason);
