/* SPDX-License-Identifier: BSD-3-Clause */
/* Spans of time of packets that were lost or late, and gaps of a thread: what is kept when there is too much. */
#include "test_main.h"

#include "pipeline/gaps.h"
#include "proof/proof.h"
#include "proof/suspects.h"

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

/* The missing ones were made behind the last that came in order, and overtaken by the one behind them. */
TEST(lost_between_two) {
	struct proof p;
	const struct suspect *one;

	assert_int_equal(proof_create(&p, 3, HZ, false), 0);
	assert_int_equal(arrive(&p, 0, 1000 * US, 1100 * US), ARRIVAL_IN_ORDER);
	assert_int_equal(arrive(&p, 1, 2000 * US, 2100 * US), ARRIVAL_IN_ORDER);
	assert_int_equal(p.suspects.count, 0);
	assert_int_equal(arrive(&p, 4, 90000 * US, 90400 * US), ARRIVAL_GAP);
	one = only_one(&p.suspects);
	assert_int_equal(one->from, 2000 * US);
	assert_int_equal(one->to, 90500 * US);
	assert_int_equal(one->lost, 2);
	assert_int_equal(one->reordered, 0);
	proof_restart(&p);
	assert_int_equal(p.suspects.count, 0);
	assert_int_equal(arrive(&p, 1, 700 * US, 900 * US),
			 ARRIVAL_GAP); /* before is not known what was */
	one = only_one(&p.suspects);
	assert_int_equal(one->from, 500 * US);
	assert_int_equal(one->to, 1000 * US);
	proof_free(&p);
}

TEST(late_since_it_was_made) {
	struct proof p;
	const struct suspect *one = NULL;

	assert_int_equal(proof_create(&p, 3, HZ, false), 0);
	arrive(&p, 0, 1000 * US, 1100 * US);
	arrive(&p, 2, 3000 * US, 3100 * US);
	assert_int_equal(arrive(&p, 1, 2000 * US, 41000 * US), ARRIVAL_LATE);
	assert_int_equal(p.suspects.count, 2);
	for (uint32_t i = 0; i < SUSPECTS; i++)
		one = p.suspects.table[i].reordered > 0 ? &p.suspects.table[i] : one;
	assert_non_null(one);
	assert_int_equal(one->from, 2000 * US);
	assert_int_equal(one->to, 41500 * US);
	arrive(&p, 4, 4000 * US, 5100 * US);
	assert_int_equal(p.suspects.count, 3);
	for (uint32_t i = 0; i < SUSPECTS; i++) {
		if (p.suspects.table[i].to == 5500 * US)
			assert_int_equal(p.suspects.table[i].from,
					 3000 * US); /* not of the late one */
	}
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

/* Nothing is forgotten: what has no entry is told as a number. */
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
