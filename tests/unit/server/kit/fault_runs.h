/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One operation on a server, again and again, each time with another call failing: it is done as a whole, or refused, and
 * then what is served and the memory that is in use are what they were. VCMTS_FAULTS=all tries every call.
 */
#pragma once

#include "test.h"

#include "faults.h"
#include "life_kit.h"
#include "served_state.h"

#ifndef FAULTS_ABOUT
#define FAULTS_ABOUT 40 /* calls that are tried of an operation in the short run */
#endif

enum outcome {
	OUTCOME_DONE,
	OUTCOME_REFUSED,
	OUTCOME_UNKNOWN, /* the answer was lost, and says so */
};

struct operation {
	const char *name;
	enum outcome (*run)(void *context);
	void (*undo)(void *context); /* without faults */
	void (*serves)(void); /* traffic passes */
	void *context;
	bool keeps_memory; /* the reader of files remembers what it read, also after a refusal */
	bool reads; /* it changes nothing: the memory in use is the same in each case */
	bool stays_short; /* in every other case, all allocations behind the call that fails do so, too */
};

static inline void memory_is(size_t before, const char *what) {
	if (faults_memory() != before)
		fail_msg("%s: %zu pieces of memory are in use, before it %zu", what,
			 faults_memory(), before);
}

/* An answer that was lost: it was done, or nothing was. */
static inline enum outcome outcome_found(const struct server *s, const char *before) {
	char *now = served_state(s, true);
	bool same = strcmp(now, before) == 0;

	free(now);
	return same ? OUTCOME_REFUSED : OUTCOME_DONE;
}

/* With the call `n` failing. Returns whether there was one. */
static inline bool one_fault(const struct operation *o, const struct server *s, long n,
			     bool stays_short, const char *after) {
	char *before = served_state(s, true), *now, what[160];
	struct life_left left = life_left_now();
	size_t memory = faults_memory();
	enum outcome outcome;
	const char *failed;

	faults_begin(n, stays_short);
	outcome = o->run(o->context);
	failed = faults_end(NULL);
	snprintf(what, sizeof(what), "%s, call %ld, %s fails", o->name, n,
		 failed != NULL ? failed : "nothing");
	if (failed == NULL && outcome != OUTCOME_DONE)
		fail_msg("%s: refused", what);
	if (outcome == OUTCOME_UNKNOWN)
		outcome = outcome_found(s, before);
	now = served_state(s, outcome == OUTCOME_REFUSED);
	served_state_check(outcome == OUTCOME_REFUSED ? before : after, now, what);
	free(before);
	free(now);
	if (outcome == OUTCOME_REFUSED) {
		life_left_check(&left);
		if (!o->keeps_memory)
			memory_is(memory, what);
	} else {
		o->undo(o->context);
		if (o->reads)
			memory_is(memory, what);
	}
	return failed != NULL;
}

/* Each call of the operation, or some of them. Returns how many faults there were. */
static inline long every_fault(const struct operation *o, const struct server *s) {
	const char *wish = getenv("VCMTS_FAULTS");
	char *before, *after, *now;
	long calls, step, faults = 0;

	for (int warm = 0; warm < 2; warm++) { /* what grows once has grown */
		assert_int_equal(o->run(o->context), OUTCOME_DONE);
		o->undo(o->context);
	}
	before = served_state(s, false);
	faults_begin(-1, false);
	assert_int_equal(o->run(o->context), OUTCOME_DONE);
	faults_end(&calls);
	after = served_state(s, false);
	o->undo(o->context);
	step = wish != NULL && strcmp(wish, "all") == 0 ? 1 : RTE_MAX(calls / FAULTS_ABOUT, 1);
	for (long n = 0; n < calls + step; n += step) {
		faults += one_fault(o, s, n, o->stays_short && n / step % 2 == 1, after);
		if (o->serves != NULL && faults % 8 == 0)
			o->serves();
	}
	now = served_state(s, false);
	served_state_check(before, now, o->name);
	printf("%s: %ld calls, %ld failed, each of %ld\n", o->name, calls, faults, step);
	free(before);
	free(after);
	free(now);
	return faults;
}
