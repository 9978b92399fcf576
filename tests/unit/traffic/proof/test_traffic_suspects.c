/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests proof.h, suspects.h, gaps.h and watch.h: the balance of verdicts, time spans of lost and
 * late packets, gaps of a thread, and losses that changes explain. */
#include "test_main.h"

#include "pipeline/gaps.h"
#include "proof/proof.h"
#include "proof/suspects.h"
#include "proof/watch.h"

#define HZ UINT64_C(2000000000)
#define US UINT64_C(2000)

static const struct suspect *only_span(const struct suspects *s) {
	const struct suspect *result = NULL;

	for (uint32_t i = 0; i < SUSPECTS_MAX; i++) {
		if (s->table[i].to == 0)
			continue;
		assert_null(result);
		result = &s->table[i];
	}
	assert_non_null(result);
	return result;
}

static enum arrival arrive(struct proof *p, uint32_t sequence, uint64_t made, uint64_t now) {
	struct arrived packet = {
		.stream = 1, .sequence = sequence, .tsc = made, .bytes = 100, .valid = true};

	return proof_arrive(p, &packet, now);
}

static const struct suspect *late_span(const struct suspects *s) {
	for (uint32_t i = 0; i < SUSPECTS_MAX; i++) {
		if (s->table[i].reordered > 0)
			return &s->table[i];
	}
	fail_msg("no span has a reordered packet");
	return NULL;
}

static void assert_span(const struct suspect *s, uint64_t from, uint64_t to, uint32_t lost) {
	assert_int_equal(s->from, from);
	assert_int_equal(s->to, to);
	assert_int_equal(s->lost, lost);
	assert_int_equal(s->reordered, lost == 0);
}

/* The span of missing packets starts when the last packet before these was made, and ends when the
 * next one arrived. The span of a late packet starts when it was made. */
TEST(lost_and_late_packets_have_spans) {
	struct proof p;

	assert_int_equal(proof_create(&p, 3, HZ, false), 0);
	assert_int_equal(arrive(&p, 0, 1000 * US, 1100 * US), ARRIVAL_IN_ORDER);
	assert_int_equal(arrive(&p, 1, 2000 * US, 2100 * US), ARRIVAL_IN_ORDER);
	assert_int_equal(p.suspects.count, 0);
	assert_int_equal(arrive(&p, 4, 90000 * US, 90400 * US), ARRIVAL_GAP);
	assert_span(only_span(&p.suspects), 2000 * US, 90500 * US, 2);
	assert_int_equal(arrive(&p, 3, 80000 * US, 99000 * US), ARRIVAL_LATE);
	assert_span(late_span(&p.suspects), 80000 * US, 99500 * US, 0);
	assert_int_equal(proof_stream_missing(&p, 1, 7), 3); /* by sequence numbers alone */
	assert_int_equal(proof_stream_missing(&p, 1, 4), 0);
	assert_int_equal(proof_stream_missing(&p, 1, 3), -1); /* more arrived than were made */
	proof_restart(&p);
	assert_int_equal(p.suspects.count, 0);
	assert_int_equal(arrive(&p, 1, 700 * US, 900 * US),
			 ARRIVAL_GAP); /* the packet before is unknown after a restart */
	assert_span(only_span(&p.suspects), 500 * US, 1000 * US, 1);
	arrive(&p, 0, 600 * US, 950 * US);
	suspects_restart(&p.suspects);
	arrive(&p, 3, 1800 * US, 2100 * US); /* the span starts at packet 1 */
	assert_span(only_span(&p.suspects), 500 * US, 2500 * US, 1);
	proof_free(&p);
}

TEST(similar_spans_are_merged) {
	struct suspects s;

	assert_int_equal(suspects_create(&s, HZ), 0);
	suspects_add(&s, 1000 * US, 2100 * US, 3, 0);
	suspects_add(&s, 1499 * US, 2499 * US, 2, 1);
	assert_int_equal(only_span(&s)->lost, 5);
	assert_int_equal(only_span(&s)->reordered, 1);
	suspects_restart(&s);
	for (uint32_t i = 1; i <= SUSPECTS_MAX / 2; i++) {
		suspects_add(&s, 1000 * US, (uint64_t)(1000 + i) * 1000 * US, 1, 0);
		assert_int_equal(s.count, i);
	}
	suspects_free(&s);
}

TEST(surplus_spans_are_counted) {
	struct suspects s;
	uint64_t lost = 0;

	assert_int_equal(suspects_create(&s, HZ), 0);
	for (uint32_t i = 0; i < 2 * SUSPECTS_MAX; i++)
		suspects_add(&s, (uint64_t)i * 1000 * US, (uint64_t)(i + 1) * 1000 * US, 1, 2);
	assert_in_range(s.count, SUSPECTS_MAX / 2, SUSPECTS_MAX - 1);
	for (uint32_t i = 0; i < SUSPECTS_MAX; i++)
		lost += s.table[i].lost;
	assert_int_equal(lost, s.count);
	assert_int_equal(lost + s.lost_more, 2 * SUSPECTS_MAX);
	assert_int_equal(s.reordered_more, 2 * s.lost_more);
	suspects_free(&s);
}

/* A missing packet is lost, corrupted or undecipherable. Surplus corruptions are duplicates. */
TEST(proof_balance_adds_up) {
	static const struct {
		uint64_t missing, duplicated;
		struct proof_damage damage;
		struct proof_balance expected;
	} cases[] = {
		{0, 0, {0, 0}, {0, 0, 0, 0}}, {3, 0, {0, 0}, {3, 0, 0, 0}},
		{3, 2, {1, 0}, {2, 2, 1, 0}}, {3, 0, {3, 0}, {0, 0, 3, 0}},
		{3, 1, {5, 0}, {0, 3, 3, 0}}, {0, 0, {2, 0}, {0, 2, 0, 0}},
		{5, 0, {1, 2}, {2, 0, 1, 2}}, {3, 0, {2, 2}, {0, 1, 1, 2}},
		{1, 0, {1, 2}, {0, 2, 0, 1}}, {0, 1, {0, 1}, {0, 2, 0, 0}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct proof p = {.duplicated = cases[i].duplicated};
		struct proof_balance b = proof_balance(&p, cases[i].missing, &cases[i].damage);

		assert_int_equal(b.lost, cases[i].expected.lost);
		assert_int_equal(b.duplicated, cases[i].expected.duplicated);
		assert_int_equal(b.corrupted, cases[i].expected.corrupted);
		assert_int_equal(b.undecipherable, cases[i].expected.undecipherable);
		assert_int_equal(cases[i].missing, b.lost + b.corrupted + b.undecipherable);
	}
}

TEST(longest_gaps_are_kept) {
	static struct gaps g;
	uint64_t shortest = UINT64_MAX;

	for (uint32_t i = 0; i < 3 * GAPS_MAX; i++)
		gaps_record(&g, 1000, 1001 + i * 7919 % (3 * GAPS_MAX));
	assert_int_equal(g.count, GAPS_MAX);
	assert_int_equal(g.shorter, 2 * GAPS_MAX);
	for (uint32_t i = 0; i < g.count; i++)
		shortest = g.list[i].to < shortest ? g.list[i].to : shortest;
	assert_int_equal(shortest, 1001 + 2 * GAPS_MAX);
}

#define STREAMS 4
#define STREAM 2

struct step {
	enum {
		ARRIVE, /* packets `from` to `to` - 1 arrive */
		MARK, /* marks the stream's state at number `from` */
		BEGIN, /* watches numbers up to `from`, until time `to` */
		EXPIRE, /* time `from` */
		END, /* stream `from` ends */
		DONE,
	} action;
	uint32_t from, to;
	uint64_t removed; /* expected after the step: packets that a change explains */
	uint32_t active; /* expected: watched streams */
};

#define DO(...) {__VA_ARGS__}

static const struct {
	const char *name;
	struct step steps[9];
} watch_cases[] = {
	{"packets that never arrive are explained by the change",
	 {DO(ARRIVE, 0, 100, 0, 0), DO(MARK, 100, 0, 0, 0), DO(ARRIVE, 100, 110, 0, 0),
	  DO(BEGIN, 130, 50, 20, 1), DO(ARRIVE, 110, 115, 15, 1), /* in flight */
	  DO(EXPIRE, 49, 0, 15, 1), DO(EXPIRE, 50, 0, 15, 0),
	  DO(ARRIVE, 115, 130, 15, 0), /* too late */
	  DO(DONE)}},
	{"earlier losses are not explained",
	 {DO(ARRIVE, 0, 50, 0, 0), DO(ARRIVE, 57, 100, 0, 0), /* seven are lost */
	  DO(MARK, 100, 0, 0, 0), DO(BEGIN, 120, 50, 20, 1), DO(ARRIVE, 100, 118, 2, 1),
	  DO(ARRIVE, 50, 57, 0, 1), /* late instead of lost */
	  DO(DONE)}},
	/* later losses of a continuing stream are not explained by the change */
	{"at most the packets made during the change",
	 {DO(ARRIVE, 0, 10, 0, 0), DO(MARK, 10, 0, 0, 0), DO(BEGIN, 13, 50, 3, 1),
	  DO(ARRIVE, 10, 11, 2, 1), DO(ARRIVE, 40, 41, 3, 1), DO(DONE)}},
	/* a second change extends the watched range */
	{"watched ranges are merged",
	 {DO(ARRIVE, 0, 10, 0, 0), DO(MARK, 10, 0, 0, 0), DO(BEGIN, 20, 50, 10, 1),
	  DO(MARK, 15, 0, 10, 1), DO(BEGIN, 30, 90, 20, 1), DO(EXPIRE, 60, 0, 20, 1),
	  DO(END, STREAM + 1, 0, 20, 1), /* not watched */
	  DO(END, STREAM, 0, 20, 0), DO(DONE)}},
};

static void run_step(const struct step *s, struct watch *w, struct proof *p) {
	static struct stream_mark mark;

	switch (s->action) {
	case ARRIVE:
		for (uint32_t n = s->from; n < s->to; n++) {
			const struct arrived packet = {
				.stream = STREAM, .sequence = n, .valid = true};

			proof_arrive(p, &packet, 1);
		}
		break;
	case MARK: mark = (struct stream_mark){STREAM, s->from, p->streams[STREAM].missing}; break;
	case BEGIN: watch_begin(w, &mark, s->from, s->to); break;
	case EXPIRE: watch_expire(w, p, s->from); break;
	case END: watch_end(w, p, s->from); break;
	case DONE: break;
	}
	assert_int_equal(watch_removed(w, p), s->removed);
	assert_int_equal(w->active_count, s->active);
}

TEST(change_explains_missing_packets) {
	for (size_t i = 0; i < ARRAY_COUNT(watch_cases); i++) {
		struct proof proof;
		struct watch watch;

		print_message("  %s\n", watch_cases[i].name);
		assert_int_equal(proof_create(&proof, STREAMS, 1000000000, false), 0);
		assert_int_equal(watch_create(&watch, STREAMS), 0);
		for (const struct step *s = watch_cases[i].steps; s->action != DONE; s++)
			run_step(s, &watch, &proof);
		watch_free(&watch);
		proof_free(&proof);
	}
}

/* During a run, packets in flight are neither lost nor overtaken yet. */
TEST(overtaken_so_far_excludes_packets_in_flight) {
	static const struct {
		struct step step;
		uint64_t removed, passed; /* expected after the step: so far */
	} steps[] = {
		{DO(ARRIVE, 0, 10, 0, 0), 0, 0},  {DO(MARK, 10, 0, 0, 0), 0, 0},
		{DO(BEGIN, 20, 50, 10, 1), 0, 0}, {DO(ARRIVE, 14, 15, 9, 1), 4, 4},
		{DO(EXPIRE, 50, 0, 9, 0), 9, 4}, /* nothing has passed the last five */
	};
	struct proof proof;
	struct watch watch;
	uint64_t passed;

	assert_int_equal(proof_create(&proof, STREAMS, 1000000000, false), 0);
	assert_int_equal(watch_create(&watch, STREAMS), 0);
	for (size_t i = 0; i < ARRAY_COUNT(steps); i++) {
		run_step(&steps[i].step, &watch, &proof);
		assert_int_equal(watch_removed_so_far(&watch, &proof, &passed), steps[i].removed);
		assert_int_equal(passed, steps[i].passed);
	}
	assert_int_equal(proof.missing, passed);
	watch_free(&watch);
	proof_free(&proof);
}
