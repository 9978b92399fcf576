/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where somebody looks on: at the boundaries of stages, and at packets that end. Lists and counters have a
 * pointer that is NULL while nobody does. What it points to stays as it is, but for what is said to be the
 * worker's: the control thread puts another in its place, and frees the former when all workers have passed.
 */
#pragma once

#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

#define TAP_NO_STAGE UINT32_MAX /* between two runs of a list */

enum tap_side { TAP_IN, TAP_OUT };

/* A boundary: what goes into a stage, or comes out of it. */
static inline unsigned tap_boundary(unsigned stage, enum tap_side side) {
	return 2 * stage + side;
}

/* What one worker runs of a service group, or a shared port: it has one for all its lists. */
struct tap {
	/* What passes a boundary. The packets are only looked at. */
	void (*passed)(struct tap *tap, unsigned boundary, struct rte_mbuf *const *pkts,
		       uint16_t n);
	/* A packet, or what there is of it, about to be freed for a reason (enum drop_reason). */
	void (*dropped)(struct tap *tap, struct rte_mbuf *m, unsigned reason);
	uint32_t *
		stage; /* where the worker is, or TAP_NO_STAGE: its own, and that of a tap in this one's place */
};

/* What is looked at in one list. */
struct tap_list {
	struct tap *tap;
	uint32_t first; /* number that the tap has for the list's first stage */
	uint32_t in, out; /* a bit each of the list's stages */
};

/* `where` is read once: it may become NULL at any time. */
static inline void tap_drop(struct tap *const *where, struct rte_mbuf *m, unsigned reason) {
	struct tap *tap = __atomic_load_n(where, __ATOMIC_ACQUIRE);

	if (unlikely(tap != NULL))
		tap->dropped(tap, m, reason);
}
