/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Changes of tables that are in service, by their worker: a list of phases, of which the worker does a part between
 * two of its rounds. A phase is a list of items that are done one after the other, or a condition that is waited for.
 *
 * The budget of a part is time as estimated, in nanoseconds where nothing is in the caches, not measured: what is done
 * in which part is the same in each run.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define CHANGE_BUFFER_NS 100 /* to free a packet buffer */

/* Of a change, or of a worker's part of one. */
enum change_state {
	CHANGE_PREPARED, /* no worker has seen it: it may be ended without effect */
	CHANGE_TAKEN, /* its worker does its steps */
	CHANGE_RETIRING, /* all steps are done: what they replaced is left to be freed */
};

/* By the worker, after each of its steps. */
static inline void change_state_follow(enum change_state *state, bool done) {
	__atomic_store_n(state, done ? CHANGE_RETIRING : CHANGE_TAKEN, __ATOMIC_RELEASE);
}

/* By any thread, which sees what was done before. */
static inline enum change_state change_state_of(const enum change_state *state) {
	return __atomic_load_n(state, __ATOMIC_ACQUIRE);
}

#define CHANGE_STEP_NS 40000 /* of a part's budget */

/* How far a list of phases has come; zeroed at its beginning. */
struct change_cursor {
	unsigned phase;
	uint32_t at; /* the item of the phase */
	int left; /* ns of this part's budget */
};

struct change_phase {
	/* Does the item at the cursor and subtracts what it cost. Returns false where the item is to be continued in
	 * the next part. May move `at` on to the last item that it did. */
	bool (*step)(void *change, struct change_cursor *cursor);
	/* Items of the phase, the same in each part; NULL: `step` is a condition, which costs nothing. */
	uint32_t (*count)(const void *change);
};

/* Defines the `count` of a phase that has as many items as a field of its change says. */
#define CHANGE_COUNT(name, type, field)                         \
	static inline uint32_t name(const void *change) {       \
		return (uint32_t)((const type *)change)->field; \
	}

/*
 * The next part: begins items as long as something of `budget` is left, so that it takes no longer than the budget and
 * the item that exceeds it. Returns whether all phases are done; then it may be called again, and does nothing.
 */
bool change_run(struct change_cursor *cursor, const struct change_phase *phases, unsigned count,
		void *change, int budget);
