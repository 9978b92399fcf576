/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Capture points at the boundaries of stages and at drops.
 *
 * Lists and counters have a pointer that is NULL without a capture. The control thread never
 * modifies the struct behind it, except for members of the worker. It replaces the struct, and
 * frees the old one when no worker can reach it.
 */
#pragma once

#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

#define TAP_NO_STAGE UINT32_MAX /* between two runs of a list */

enum tap_side { TAP_IN, TAP_OUT };

/* A boundary: the input or the output of a stage. */
static inline unsigned tap_boundary(unsigned stage, enum tap_side side) {
	return 2 * stage + side;
}

/* The capture of one worker in a service group or shared port; all of its lists share it. */
struct tap {
	/* Reports packets at a boundary. It must not modify them. */
	void (*passed)(struct tap *tap, unsigned boundary, struct rte_mbuf *const *pkts,
		       uint16_t n);
	/* Reports a packet, or a part of one, that is about to be freed for a reason (enum
	 * drop_reason). */
	void (*dropped)(struct tap *tap, struct rte_mbuf *m, unsigned reason);
	/* the worker's current stage, or TAP_NO_STAGE; also used by the tap's successor */
	uint32_t *stage;
};

/* The capture points of one list. */
struct tap_list {
	struct tap *tap;
	uint32_t first; /* the tap's number of the list's first stage */
	uint32_t in, out; /* a bit per stage of the list */
};

/* Another thread may set `*where` to NULL at any time, so it is read once. */
static inline void tap_drop(struct tap *const *where, struct rte_mbuf *m, unsigned reason) {
	struct tap *tap = __atomic_load_n(where, __ATOMIC_ACQUIRE);

	if (unlikely(tap != NULL))
		tap->dropped(tap, m, reason);
}
