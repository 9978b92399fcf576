/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of tables in service. The worker that uses the tables runs a list of phases, in steps
 * between its rounds. A phase processes items in order, or waits for a condition.
 *
 * The budget of a step is in nanoseconds. Items subtract an estimated cost, for cold caches. The
 * cost is not measured, so that a replay runs the same items in the same steps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CHANGE_BUFFER_NS 100 /* cost of freeing a packet buffer */

/* The state of a change, or of one worker's share of it. */
enum change_state {
	CHANGE_PREPARED, /* no worker has seen it: the control thread may end it without effect */
	CHANGE_APPLYING, /* the worker has run a step, and more follow */
	CHANGE_RETIRING, /* all steps have run; replaced objects are not freed yet */
};

/* The worker calls it after each step; `done`: it was the last one. */
static inline void change_state_follow(enum change_state *state, bool done) {
	__atomic_store_n(state, done ? CHANGE_RETIRING : CHANGE_APPLYING, __ATOMIC_RELEASE);
}

/* For any thread, which then also sees all that the worker wrote before it set the state. */
static inline enum change_state change_state_of(const enum change_state *state) {
	return __atomic_load_n(state, __ATOMIC_ACQUIRE);
}

#define CHANGE_STEP_NS 40000 /* the usual budget of a step */

/* The position in a list of phases; zeroed: its start. */
struct change_cursor {
	unsigned phase;
	uint32_t at; /* index of the item in the phase */
	int left; /* ns of the step's budget; may be negative */
};

struct change_phase {
	/* Processes the item at the cursor and subtracts its cost from `left`. If it has processed
	 * several items, it sets `at` to the last one. Returns false to continue the item in the
	 * worker's next step. */
	bool (*step)(void *change, struct change_cursor *cursor);
	/* The number of items, the same in each of the worker's steps. NULL: `step` returns whether
	 * a condition is true. It runs even without budget. */
	uint32_t (*count)(const void *change);
};

/* Defines the `count` of a phase: the number of its items is a field of the change. */
#define CHANGE_COUNT(name, type, field)                         \
	static inline uint32_t name(const void *change) {       \
		return (uint32_t)((const type *)change)->field; \
	}

/*
 * Runs one step of the worker: begins items while budget is left, so the last item may exceed it.
 *
 * Returns whether all phases are complete. If so, further calls do nothing and return true.
 */
bool change_run(struct change_cursor *cursor, const struct change_phase *phases, unsigned count,
		void *change, int budget);
