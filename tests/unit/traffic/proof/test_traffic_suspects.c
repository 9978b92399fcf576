/* SPDX-License-Identifier: BSD-3-Clause */
/* What became of the packets that were sent: the arithmetic; spans of time of packets that were lost or late, and gaps of a
 * thread: what is kept when there is too much. */
#include "test_main.h"

#include "pipeline/gaps.h"
#include "proof/proof.h"
#include "proof/suspects.h"
#include "proof/watch.h"

#define HZ UINT64_C(2000000000)
#define US UINT64_C(2000)

static const struct suspect *only_one(const struct suspects *s) {
	const struct suspect *found = NULL;

	for (uint32_t i = 0; i < SUSPECTS; i++) {
		if (s->table[i].to == 0)
			continue;
		assert_null(found);
		found = &s->table[i];
	}
	assert_non_null(found);
	return found;
}

static enum arrival arrive(struct proof *p, uint32_t sequence, uint64_t made, uint64_t now) {
	struct arrived packet = {
		.stream = 1, .sequence = sequence, .tsc = made, .bytes = 100, .valid = true};

	return proof_arrive(p, &packet, now);
}

static const struct suspect *late_one(const struct suspects *s) {
	for (uint32_t i = 0; i < SUSPECTS; i++) {
		if (s->table[i].reordered > 0)
			return &s->table[i];
	}
	fail_msg("none is late");
	return NULL;
}

static void span_check(const struct suspect *s, uint64_t from, uint64_t to, uint32_t lost) {
	assert_int_equal(s->from, from);
	assert_int_equal(s->to, to);
	assert_int_equal(s->lost, lost);
	assert_int_equal(s->reordered, lost == 0);
}

/* The missing ones were made behind the last that came in order, and overtaken by the one behind them. Late ones are so
 * since they were made. */
TEST(lost_between_two_or_late) {
	struct proof p;

	assert_int_equal(proof_create(&p, 3, HZ, false), 0);
	assert_int_equal(arrive(&p, 0, 1000 * US, 1100 * US), ARRIVAL_IN_ORDER);
	assert_int_equal(arrive(&p, 1, 2000 * US, 2100 * US), ARRIVAL_IN_ORDER);
	assert_int_equal(p.suspects.count, 0);
	assert_int_equal(arrive(&p, 4, 90000 * US, 90400 * US), ARRIVAL_GAP);
	span_check(only_one(&p.suspects), 2000 * US, 90500 * US, 2);
	assert_int_equal(arrive(&p, 3, 80000 * US, 99000 * US), ARRIVAL_LATE);
	span_check(late_one(&p.suspects), 80000 * US, 99500 * US, 0);
	assert_int_equal(proof_stream_missing(&p, 1, 7),
			 3); /* whatever was counted beside the numbers */
	assert_int_equal(proof_stream_missing(&p, 1, 4), 0);
	assert_int_equal(proof_stream_missing(&p, 1, 3), -1); /* more arrived than were made */
	proof_restart(&p);
	assert_int_equal(p.suspects.count, 0);
	assert_int_equal(arrive(&p, 1, 700 * US, 900 * US),
			 ARRIVAL_GAP); /* before is not known what was */
	span_check(only_one(&p.suspects), 500 * US, 1000 * US, 1);
	arrive(&p, 0, 600 * US, 950 * US);
	suspects_restart(&p.suspects);
	arrive(&p, 3, 1800 * US, 2100 * US); /* behind the one in order, not of the late one */
	span_check(only_one(&p.suspects), 500 * US, 2500 * US, 1);
	proof_free(&p);
}

TEST(equal_spans_are_one) {
	struct suspects s;

	assert_int_equal(suspects_create(&s, HZ), 0);
	suspects_add(&s, 1000 * US, 2100 * US, 3, 0);
	suspects_add(&s, 1499 * US, 2499 * US, 2, 1);
	assert_int_equal(only_one(&s)->lost, 5);
	assert_int_equal(only_one(&s)->reordered, 1);
	suspects_restart(&s);
	for (uint32_t i = 1; i <= SUSPECTS / 2; i++) {
		suspects_add(&s, 1000 * US, (uint64_t)(1000 + i) * 1000 * US, 1, 0);
		assert_int_equal(s.count, i);
	}
	suspects_free(&s);
}

TEST(too_many_spans) {
	struct suspects s;
	uint64_t lost = 0;

	assert_int_equal(suspects_create(&s, HZ), 0);
	for (uint32_t i = 0; i < 2 * SUSPECTS; i++)
		suspects_add(&s, (uint64_t)i * 1000 * US, (uint64_t)(i + 1) * 1000 * US, 1, 2);
	assert_in_range(s.count, SUSPECTS / 2, SUSPECTS - 1);
	for (uint32_t i = 0; i < SUSPECTS; i++)
		lost += s.table[i].lost;
	assert_int_equal(lost, s.count);
	assert_int_equal(lost + s.lost_more, 2 * SUSPECTS);
	assert_int_equal(s.reordered_more, 2 * s.lost_more);
	suspects_free(&s);
}

/* What is missing is lost, corrupted or undecipherable; what arrived beside that is a duplicate. */
TEST(balances_add_up) {
	static const struct {
		uint64_t missing, duplicated;
		struct proof_damage damage;
		struct proof_balance expected;
	} rows[] = {
		{0, 0, {0, 0}, {0, 0, 0, 0}}, {3, 0, {0, 0}, {3, 0, 0, 0}},
		{3, 2, {1, 0}, {2, 2, 1, 0}}, {3, 0, {3, 0}, {0, 0, 3, 0}},
		{3, 1, {5, 0}, {0, 3, 3, 0}}, {0, 0, {2, 0}, {0, 2, 0, 0}},
		{5, 0, {1, 2}, {2, 0, 1, 2}}, {3, 0, {2, 2}, {0, 1, 1, 2}},
		{1, 0, {1, 2}, {0, 2, 0, 1}}, {0, 1, {0, 1}, {0, 2, 0, 0}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		struct proof p = {.duplicated = rows[i].duplicated};
		struct proof_balance b = proof_balance(&p, rows[i].missing, &rows[i].damage);

		assert_int_equal(b.lost, rows[i].expected.lost);
		assert_int_equal(b.duplicated, rows[i].expected.duplicated);
		assert_int_equal(b.corrupted, rows[i].expected.corrupted);
		assert_int_equal(b.undecipherable, rows[i].expected.undecipherable);
		assert_int_equal(rows[i].missing, b.lost + b.corrupted + b.undecipherable);
	}
}

TEST(longest_gaps_are_kept) {
	static struct gaps g;
	uint64_t shortest = UINT64_MAX;

	for (uint32_t i = 0; i < 3 * GAPS_MOST; i++)
		gaps_note(&g, 1000, 1001 + i * 7919 % (3 * GAPS_MOST));
	assert_int_equal(g.count, GAPS_MOST);
	assert_int_equal(g.shorter, 2 * GAPS_MOST);
	for (uint32_t i = 0; i < g.count; i++)
		shortest = g.list[i].to < shortest ? g.list[i].to : shortest;
	assert_int_equal(shortest, 1001 + 2 * GAPS_MOST);
}

/* Which of the packets that never came are a change's, and which are lost. */
#define STREAMS 4
#define STREAM 2

struct step {
	enum {
		COME, /* numbers `from` up to but not `to` come */
		MARK, /* what is known at `from` */
		BEGIN, /* watches up to `from`, until the time `to` */
		EXPIRE, /* at the time `from` */
		END, /* of the stream `from` */
		DONE,
	} what;
	uint32_t from, to;
	uint64_t removed; /* by then */
	uint32_t active;
};

#define DO(...) {__VA_ARGS__}

static const struct {
	const char *name;
	struct step steps[9];
} cases[] = {
	{"what never came is the change's",
	 {DO(COME, 0, 100, 0, 0), DO(MARK, 100, 0, 0, 0), DO(COME, 100, 110, 0, 0),
	  DO(BEGIN, 130, 50, 20, 1), DO(COME, 110, 115, 15, 1), /* under way */
	  DO(EXPIRE, 49, 0, 15, 1), DO(EXPIRE, 50, 0, 15, 0),
	  DO(COME, 115, 130, 15, 0), /* too late */
	  DO(DONE)}},
	{"what was lost before is not",
	 {DO(COME, 0, 50, 0, 0), DO(COME, 57, 100, 0, 0), /* seven are lost */
	  DO(MARK, 100, 0, 0, 0), DO(BEGIN, 120, 50, 20, 1), DO(COME, 100, 118, 2, 1),
	  DO(COME, 50, 57, 0, 1), /* were not lost, but late */
	  DO(DONE)}},
	/* Of a stream that goes on, losses of later are its own, beyond what the change can have cost. */
	{"no more than was made in between",
	 {DO(COME, 0, 10, 0, 0), DO(MARK, 10, 0, 0, 0), DO(BEGIN, 13, 50, 3, 1),
	  DO(COME, 10, 11, 2, 1), DO(COME, 40, 41, 3, 1), DO(DONE)}},
	/* A second change in the meantime: one stretch for both. */
	{"stretches are put together",
	 {DO(COME, 0, 10, 0, 0), DO(MARK, 10, 0, 0, 0), DO(BEGIN, 20, 50, 10, 1),
	  DO(MARK, 15, 0, 10, 1), DO(BEGIN, 30, 90, 20, 1), DO(EXPIRE, 60, 0, 20, 1),
	  DO(END, STREAM + 1, 0, 20, 1), /* which is not watched */
	  DO(END, STREAM, 0, 20, 0), DO(DONE)}},
};

static void step_take(const struct step *s, struct watch *w, struct proof *p) {
	static struct stream_mark mark;

	switch (s->what) {
	case COME:
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

TEST(what_a_change_has_cost) {
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct proof proof;
		struct watch watch;

		print_message("  %s\n", cases[i].name);
		assert_int_equal(proof_create(&proof, STREAMS, 1000000000, false), 0);
		assert_int_equal(watch_create(&watch, STREAMS), 0);
		for (const struct step *s = cases[i].steps; s->what != DONE; s++)
			step_take(s, &watch, &proof);
		watch_free(&watch);
		proof_free(&proof);
	}
}
