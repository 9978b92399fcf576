/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scheduler: how leads are cut, at once and in steps, against a cut that looks at all groups for each
 * of them.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "scheduler/leads.h"
#include "scheduler_trial.h"

#define MOST_GROUPS 200

/* A cut as docs/scheduler.md has it. */
static void slow_cut(uint64_t *rounds, const bool *waits, uint32_t n) {
	for (bool again = true; again;) {
		again = false;
		for (uint32_t i = 0; i < n; i++) {
			uint64_t next = UINT64_MAX, excess;

			for (uint32_t k = 0; k < n && waits[i]; k++)
				next = waits[k] && rounds[k] > rounds[i] && rounds[k] < next
					       ? rounds[k]
					       : next;
			if (next == UINT64_MAX || next - rounds[i] <= MAX_LEAD)
				continue;
			excess = next - rounds[i] - MAX_LEAD;
			for (uint32_t k = 0; k < n; k++)
				rounds[k] -= waits[k] && rounds[k] >= next ? excess : 0;
			again = true;
		}
	}
}

/* All groups share the channel; those that wait have a packet. */
static void crowd_open(struct trial *t, uint32_t n, bool *waits, struct random *r) {
	static struct scheduler_group groups[MOST_GROUPS];
	static const struct scheduler_channel channel = {.rate = GBPS};

	for (uint32_t i = 0; i < n; i++)
		groups[i] = (struct scheduler_group){one_channel, 1};
	trial_open(t, groups, n, &channel, 1);
	for (uint32_t i = 0; i < n; i++) {
		waits[i] = i < 2 || random_below(r, 4) > 0;
		if (waits[i])
			arrive(t, i);
	}
}

/* Rounds that go up to some before leads are cut, with gaps of all sizes. */
static void random_rounds(const struct trial *t, uint64_t low, struct random *r, uint64_t *rounds) {
	for (uint32_t i = 0; i < t->groups; i++) {
		rounds[i] = low + random_below(r, 2 * MAX_LEAD * t->groups);
		if (random_below(r, 2) > 0)
			rounds[i] = low + random_below(r, 40);
		column_of(t, i)->round = rounds[i];
		if (t->s->groups[i].waiting != 0)
			group_rank(t->s, i);
	}
}

static void expect_rounds(const struct trial *t, const uint64_t *rounds, const bool *waits) {
	const struct cluster *c = crowd(t);

	for (uint32_t i = 0; i < t->groups; i++) {
		const uint64_t round = column_of(t, i)->round;

		if (round != rounds[i])
			fail_msg("%u groups, group %u: round %llu, not %llu", t->groups, i,
				 (unsigned long long)round, (unsigned long long)rounds[i]);
		if (waits[i])
			assert_int_equal(c->ranks[t->s->groups[i].place] >> RANK_ROUND &
						 (2 * MAX_ROUND - 1),
					 round);
	}
}

static uint64_t lowest_of(const struct trial *t, const uint64_t *rounds, const bool *waits) {
	uint64_t lowest = UINT64_MAX;

	for (uint32_t i = 0; i < t->groups; i++)
		lowest = waits[i] && rounds[i] < lowest ? rounds[i] : lowest;
	return lowest;
}

/* The group served last, of any round, is one of those that wait. */
static void cut_alike(uint32_t n, uint64_t low, uint64_t seed) {
	struct random r = {seed};
	uint64_t rounds[MOST_GROUPS], lowest;
	bool waits[MOST_GROUPS];
	struct trial t;

	crowd_open(&t, n, waits, &r);
	random_rounds(&t, low, &r, rounds);
	lowest = lowest_of(&t, rounds, waits);
	crowd(&t)->far_ahead[COLUMN] = lowest + 2 * MAX_LEAD * n;
	crowd(&t)->served[COLUMN] = rounds[1];
	slow_cut(rounds, waits, n);
	if (lowest > MAX_ROUND / 2) {
		for (uint32_t i = 0; i < n; i++)
			rounds[i] -= waits[i] ? MAX_ROUND / 2 : 0;
		lowest -= MAX_ROUND / 2;
	}
	leads_cut(t.s, t.s->groups[0].cluster, COLUMN);
	while (t.s->cutting) { /* whoever is told before its turn is not told again */
		for (uint32_t i = 0; i < n; i += waits[i] ? 1 + random_below(&r, 3) : 1) {
			if (waits[i])
				leads_tell(t.s, i, COLUMN);
		}
		leads_go_on(t.s);
	}
	expect_rounds(&t, rounds, waits);
	assert_int_equal(crowd(&t)->served[COLUMN], rounds[1]);
	assert_int_equal(crowd(&t)->far_ahead[COLUMN],
			 lowest + (uint64_t)2 * MAX_LEAD * crowd(&t)->present_count);
	trial_close(&t);
}

static void leads_are_cut_as_told(void **state) {
	static const uint32_t sizes[] = {2, 3, 6, 40, 64, 100, MOST_GROUPS};

	(void)state;
	for (uint64_t seed = 1; seed < 60; seed++) {
		for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
			cut_alike(sizes[i], 0, seed);
			cut_alike(sizes[i], 1000000 + seed, seed);
			cut_alike(sizes[i], MAX_ROUND / 2 + 1 + seed, seed);
		}
	}
}

/*
 * While leads are cut in steps, groups have turns, leave and come back: the order of those that do
 * nothing stays, and whoever comes back is beside the one that was served last.
 */
static void cut_meanwhile(uint64_t seed) {
	struct random r = {seed};
	uint64_t rounds[MOST_GROUPS], before[MOST_GROUPS];
	bool waits[MOST_GROUPS], still[MOST_GROUPS];
	struct scheduler_grant g;
	struct trial t;

	crowd_open(&t, MOST_GROUPS, waits, &r);
	random_rounds(&t, 0, &r, rounds);
	memcpy(before, rounds, sizeof(rounds));
	memcpy(still, waits, sizeof(waits));
	slow_cut(rounds, waits, MOST_GROUPS);
	crowd(&t)->far_ahead[COLUMN] = 2 * MAX_LEAD * MOST_GROUPS;
	leads_cut(t.s, t.s->groups[0].cluster, COLUMN);
	assert_true(t.s->cutting);
	while (t.s->cutting) {
		uint32_t away = random_below(&r, MOST_GROUPS);

		if (scheduler_dequeue(t.s, t.now, &g, 1) == 1) {
			still[g.flow] = false;
			arrive(&t, g.flow);
		}
		if (still[away] && random_below(&r, 4) == 0) {
			scheduler_drain_flow(t.s, away, (void *[1]){0}, 1);
			still[away] = false;
		}
		t.now += 12000;
	}
	for (uint32_t i = 0; i < MOST_GROUPS; i++) {
		if (still[i])
			assert_int_equal(column_of(&t, i)->round, rounds[i]);
		else if (t.s->groups[i].waiting != 0)
			assert_in_range(column_of(&t, i)->round, 0,
					MAX_LEAD * MOST_GROUPS + 3 * MAX_LEAD);
	}
	trial_close(&t);
}

static void turns_go_on_while_leads_are_cut(void **state) {
	(void)state;
	for (uint64_t seed = 1; seed < 50; seed++)
		cut_meanwhile(seed);
}

/* What is cut in a cluster that groups leave is of no use to them. */
static void cut_ends_where_groups_move(void **state) {
	const struct scheduler_group again = {one_channel, 1};
	struct random r = {7};
	bool waits[MOST_GROUPS];
	struct trial t;

	(void)state;
	crowd_open(&t, MOST_GROUPS, waits, &r);
	leads_cut(t.s, t.s->groups[0].cluster, COLUMN);
	assert_true(t.s->cutting);
	assert_null(scheduler_set_group(t.s, 3, &again));
	for (uint32_t before = t.s->groups[0].cluster; t.s->groups[0].cluster == before;)
		scheduler_dequeue(t.s, t.now, NULL, 0);
	assert_false(t.s->cutting);
	trial_close(&t);
}

/* Who was served last need not be there any more: its round may lie between those of two others. */
static void what_lies_in_a_gap(void **state) {
	const int64_t below = 10, above = 100, over = above - below - MAX_LEAD;
	struct random r = {1};
	bool waits[2];
	struct trial t;

	(void)state;
	crowd_open(&t, 2, waits, &r);
	for (int64_t round = 0; round < 130; round++) {
		int64_t after = round < above ? less(round, below + MAX_LEAD) : round - over;

		for (uint32_t i = 0; i < 2; i++) {
			column_of(&t, i)->round = (uint64_t)(i == 0 ? below : above);
			group_rank(t.s, i);
		}
		crowd(&t)->served[COLUMN] = (uint64_t)round;
		leads_cut(t.s, t.s->groups[0].cluster, COLUMN);
		assert_int_equal(column_of(&t, 0)->round, below);
		assert_int_equal(column_of(&t, 1)->round, below + MAX_LEAD);
		assert_int_equal(crowd(&t)->served[COLUMN], after);
	}
	trial_close(&t);
}

#define FIRST_THERE 400 /* of TRIAL_GROUPS; the last one is not there either */
#define APART 12 /* rounds of one from the next: MAX_LEAD of them are left */

/* A cut in steps begins. */
static void cut_open(struct trial *t, uint64_t low) {
	static struct scheduler_group groups[TRIAL_GROUPS];
	static const struct scheduler_channel channel = {.rate = GBPS};
	const uint32_t last = TRIAL_GROUPS - 1;

	for (uint32_t i = 0; i < TRIAL_GROUPS; i++)
		groups[i] = (struct scheduler_group){one_channel, 1};
	trial_open(t, groups, TRIAL_GROUPS, &channel, 1);
	for (uint32_t i = FIRST_THERE; i < last; i++) {
		arrive(t, i);
		column_of(t, i)->round = low + APART * (i - FIRST_THERE);
		group_rank(t->s, i);
	}
	column_of(t, last)->round = low + APART;
	crowd(t)->served[COLUMN] = low;
	crowd(t)->far_ahead[COLUMN] = low + (uint64_t)2 * MAX_LEAD * (last - FIRST_THERE);
	leads_cut(t->s, t->s->groups[0].cluster, COLUMN);
}

/* It goes on until what it takes off is known, while none of those that wait has been told. */
static void cut_get_known(struct trial *t, uint64_t low) {
	while (crowd(t)->served[COLUMN] == low)
		leads_go_on(t->s);
	for (uint32_t i = FIRST_THERE; i < TRIAL_GROUPS - 1; i++)
		assert_int_equal(column_of(t, i)->round, low + APART * (i - FIRST_THERE));
}

static void cut_finish(struct trial *t) {
	assert_true(t->s->cutting);
	while (t->s->cutting)
		leads_go_on(t->s);
}

/*
 * Rounds that begin anew are known, but not told yet. Who is served is told first, so that who comes
 * back finds its place by a round that is right, and keeps it.
 */
static void who_is_served_is_told_first(void **state) {
	const uint64_t low = MAX_ROUND / 2 + 100;
	const uint32_t last = TRIAL_GROUPS - 1;
	struct scheduler_grant g;
	struct trial t;

	(void)state;
	cut_open(&t, low);
	cut_get_known(&t, low);
	assert_int_equal(crowd(&t)->served[COLUMN], 100);
	assert_int_equal(scheduler_dequeue(t.s, t.now, &g, 1), 1);
	assert_int_equal(g.flow, FIRST_THERE);
	assert_int_equal(crowd(&t)->served[COLUMN], 100);
	assert_int_equal(column_of(&t, FIRST_THERE + 1)->round, low + APART);
	arrive(&t, last);
	assert_int_equal(column_of(&t, last)->round, 100 + MAX_LEAD);
	cut_finish(&t);
	assert_int_equal(column_of(&t, last)->round, 100 + MAX_LEAD);
	for (uint32_t i = FIRST_THERE + 1; i < last; i++)
		assert_int_equal(column_of(&t, i)->round, 100 + MAX_LEAD * (i - FIRST_THERE));
	trial_close(&t);
}

/* One that comes back before is told with the others, whatever it was told in a cluster it came from. */
static void who_comes_back_before_is_told(void **state) {
	const uint64_t low = MAX_ROUND / 2 + 100;
	struct trial t;

	(void)state;
	cut_open(&t, low);
	leads_go_on(t.s);
	t.s->groups[0].cuts = 1u << COLUMN;
	arrive(&t, 0);
	assert_int_equal(column_of(&t, 0)->round, low - MAX_LEAD);
	cut_get_known(&t, low);
	cut_finish(&t);
	assert_int_equal(column_of(&t, 0)->round, 100); /* no lower than the lowest noted */
	trial_close(&t);
}

/* Rounds that a group goes on by before it is told count from where it is told to be, however many. */
static void rounds_go_on_before_they_are_told(void **state) {
	const uint64_t low = MAX_ROUND / 2 + 100;
	const uint32_t group = FIRST_THERE + 50;
	struct trial t;

	(void)state;
	cut_open(&t, low);
	cut_get_known(&t, low);
	for (unsigned i = 0; i < APART; i++)
		column_next_round(t.s, group, COLUMN);
	cut_finish(&t);
	assert_int_equal(column_of(&t, group)->round, 100 + MAX_LEAD * 50 + APART);
	trial_close(&t);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(leads_are_cut_as_told),
		cmocka_unit_test(what_lies_in_a_gap),
		cmocka_unit_test(who_is_served_is_told_first),
		cmocka_unit_test(who_comes_back_before_is_told),
		cmocka_unit_test(rounds_go_on_before_they_are_told),
		cmocka_unit_test(turns_go_on_while_leads_are_cut),
		cmocka_unit_test(cut_ends_where_groups_move),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
