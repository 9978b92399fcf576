/* SPDX-License-Identifier: BSD-3-Clause */
/* Repeats an operation on a server. Each time another call of it fails (faults.h). The operation
 * must succeed completely, or be refused and leave state and memory of the server unchanged. By
 * default, a sample of the calls fails; with VCMTS_FAULTS=all, each of them. */
#pragma once

#include "test.h"

#include "faults.h"
#include "life_kit.h"
#include "served_state.h"

#ifndef FAULTS_SAMPLED
#define FAULTS_SAMPLED 40 /* calls of an operation that fail by default */
#endif

enum outcome {
	OUTCOME_DONE,
	OUTCOME_REFUSED,
	OUTCOME_UNKNOWN, /* the response was lost */
};

struct operation {
	const char *name;
	enum outcome (*run)(void *context);
	void (*undo)(void *context); /* runs without faults */
	void (*check_traffic)(void); /* NULL, or checks that the server forwards packets */
	void *context;
	bool keeps_memory; /* may allocate memory that stays after a refusal */
	bool reads; /* changes nothing: undo() leaves as many allocations as before */
	bool stays_short; /* in every other run, all later allocations fail, too */
};

static inline void check_memory(size_t before, const char *what) {
	if (faults_allocations() != before)
		fail_msg("%s: %zu allocations are in use, expected %zu as before", what,
			 faults_allocations(), before);
}

/* The outcome if the response was lost: refused if the state is as before, else done. */
static inline enum outcome resolve_outcome(const struct server *s, const char *before) {
	char *now = served_state(s, true);
	bool same = strcmp(now, before) == 0;

	free(now);
	return same ? OUTCOME_REFUSED : OUTCOME_DONE;
}

/* Runs the operation; its call number `n` fails. Returns false if it made fewer calls. `after` is
 * the expected state after success. */
static inline bool run_with_fault(const struct operation *o, const struct server *s, long n,
				  bool stays_short, const char *after) {
	char *before = served_state(s, true), *now, what[160];
	struct life_resources resources = life_resources_read();
	size_t memory = faults_allocations();
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
		outcome = resolve_outcome(s, before);
	now = served_state(s, outcome == OUTCOME_REFUSED);
	served_state_check(outcome == OUTCOME_REFUSED ? before : after, now, what);
	free(before);
	free(now);
	if (outcome == OUTCOME_REFUSED) {
		life_resources_check(&resources);
		if (!o->keeps_memory)
			check_memory(memory, what);
	} else {
		o->undo(o->context);
		if (o->reads)
			check_memory(memory, what);
	}
	return failed != NULL;
}

/* Runs the operation once per call that fails. Returns how many calls failed. */
static inline long run_with_each_fault(const struct operation *o, const struct server *s) {
	const char *selection = getenv("VCMTS_FAULTS");
	char *before, *after, *now;
	long calls, step, faults = 0;

	for (int warm = 0; warm < 2; warm++) { /* tables that only grow reach their size */
		assert_int_equal(o->run(o->context), OUTCOME_DONE);
		o->undo(o->context);
	}
	before = served_state(s, false);
	faults_begin(-1, false);
	assert_int_equal(o->run(o->context), OUTCOME_DONE);
	faults_end(&calls);
	after = served_state(s, false);
	o->undo(o->context);
	step = selection != NULL && strcmp(selection, "all") == 0
		       ? 1
		       : RTE_MAX(calls / FAULTS_SAMPLED, 1);
	for (long n = 0; n < calls + step; n += step) {
		faults += run_with_fault(o, s, n, o->stays_short && n / step % 2 == 1, after);
		if (o->check_traffic != NULL && faults % 8 == 0)
			o->check_traffic();
	}
	now = served_state(s, false);
	served_state_check(before, now, o->name);
	printf("%s: %ld calls, %ld failed, every %ld. call tried\n", o->name, calls, faults, step);
	free(before);
	free(after);
	free(now);
	return faults;
}
