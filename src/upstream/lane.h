/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ordering with its accounts: what is too early waits and is held, what follows is delivered, what
 * does not come is given up. PSP packets and segments go the same way, each with its own names.
 */
#pragma once

#include "upstream/shared.h"
#include "upstream/state/order.h"

/* What all lanes share: windows in which something waits, and those that are free. */
struct us_lanes {
	const struct us_resources *r;
	struct counters *counters;
	struct holds *holds;
	struct order_slots *slots;
	struct order_slots *free;
	uint32_t in_use;
	uint32_t most; /* of those in use, once the row `expire` has run */
};

/* What packets and segments do differently; `stage` is the one whose lane it is, `owner` whose numbers. */
struct us_lane_kind {
	void (*deliver)(void *stage, void *owner, struct rte_mbuf *m);
	/* what comes next does not follow; `missing` is 0 where it is not known how much is */
	void (*gap)(void *stage, void *owner, unsigned missing);
	enum counter reordered, resyncs;
	enum drop_reason duplicate, late;
};

struct us_lane {
	const struct us_lane_kind *kind;
	void *stage;
	struct order *order;
	struct hold *hold;
	void *owner;
	uint32_t *waiting; /* counts those of all lanes of the kind */
};

/* Takes a numbered mbuf: delivers it and what follows, keeps it, or drops it. */
void us_lane_put(struct us_lanes *all, const struct us_lane *lane, uint16_t number,
		 struct rte_mbuf *m);

/* Gives up the first run of missing numbers and delivers what follows. */
void us_lane_skip(struct us_lanes *all, const struct us_lane *lane);

/* Drops what waits, for `reason`, as long as the budget (ns) is above 0; each buffer costs CHANGE_BUFFER_NS. Returns
 * whether that was all. */
bool us_lane_drop(struct us_lanes *all, const struct us_lane *lane, enum drop_reason reason,
		  int *budget);

/* Drops all that waits, for `reason`. */
void us_lane_stop(struct us_lanes *all, const struct us_lane *lane, enum drop_reason reason);
