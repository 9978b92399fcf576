/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reorder queues with their counters. A queue keeps early mbufs, delivers those in order, and skips
 * missing numbers. PSP packets and segments use the same queues with different counters and drop
 * reasons.
 */
#pragma once

#include "upstream/shared.h"
#include "upstream/state/order.h"

/* The windows of all reorder queues, those in use and free ones. */
struct us_reorder_set {
	const struct us_resources *r;
	struct counters *counters;
	struct pending_set *pending_set;
	struct order_slots *slots;
	struct order_slots *free;
	uint32_t in_use;
	uint32_t max; /* windows in use, once the stage `expire` has run */
};

/* The differences between packets and segments. `stage` is the stage that owns the queue,
 * `owner` the record that owns the numbers. */
struct us_reorder_kind {
	void (*deliver)(void *stage, void *owner, struct rte_mbuf *m);
	/* reports a gap before the next mbuf; `missing` is 0 if the number of missing mbufs is
	 * unknown */
	void (*gap)(void *stage, void *owner, unsigned missing);
	enum counter reordered, resyncs;
	enum drop_reason duplicate, late;
};

struct us_reorder {
	const struct us_reorder_kind *kind;
	void *stage;
	struct order *order;
	struct pending *pending;
	void *owner;
	uint32_t *queued; /* pending mbufs of all queues of the kind */
};

/* Takes ownership of a numbered mbuf: delivers it and those that follow, keeps it, or drops it. */
void us_reorder_put(struct us_reorder_set *all, const struct us_reorder *reorder, uint16_t number,
		    struct rte_mbuf *m);

/* Skips the first run of missing numbers and delivers the mbufs that follow. */
void us_reorder_skip(struct us_reorder_set *all, const struct us_reorder *reorder);

/* Drops pending mbufs with `reason` while the budget (ns) is above 0; each buffer costs
 * CHANGE_BUFFER_NS. Returns whether none is left. */
bool us_reorder_drop(struct us_reorder_set *all, const struct us_reorder *reorder,
		     enum drop_reason reason, int *budget);

/* Drops all pending mbufs with `reason`. */
void us_reorder_stop(struct us_reorder_set *all, const struct us_reorder *reorder,
		     enum drop_reason reason);
