/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: groups that share channels, of which one comes back or is ahead. */
#include "test.h"

#include <string.h>

#include "scheduler_trial.h"

/* The groups whose bits are set always have something to send. */
static void run(struct trial *t, uint64_t ns, unsigned on) {
	struct scheduler_grant g;

	memset(t->had, 0, sizeof(t->had));
	for (uint64_t end = t->now + ns; t->now < end; t->now += 10000) {
		for (uint32_t i = 0; i < t->groups; i++) {
			for (int n = 0; n < 20 && (on >> i & 1) != 0; n++)
				arrive(t, i);
		}
		while (scheduler_dequeue(t->s, t->now, &g, 1) > 0 || scheduler_has_more(t->s)) {
			t->had[g.flow]++;
			if ((on >> g.flow & 1) != 0)
				arrive(t, g.flow);
		}
	}
}

/* Equal but for the rounds that one may be behind, of which each is 2,048 bytes. */
static void expect_equal(const struct trial *t, uint32_t a, uint32_t b, uint64_t rounds) {
	const uint64_t off = t->had[a] > t->had[b] ? t->had[a] - t->had[b] : t->had[b] - t->had[a];

	if (off > rounds * QUANTUM / BYTES + 3)
		fail_msg("%llu packets against %llu", (unsigned long long)t->had[a],
			 (unsigned long long)t->had[b]);
}

/* Whoever was away does not have all that the others had meanwhile. */
static void one_that_was_away_gets_no_more(void **state) {
	const struct scheduler_group groups[] = {{one_channel, 1}, {one_channel, 1}};
	const struct scheduler_channel channel = {.rate = GBPS};
	struct trial t;

	(void)state;
	trial_open(&t, groups, 2, &channel, 1);
	for (unsigned away = 0; away < 4; away++) {
		run(&t, 300 * MS, 1u << away % 2);
		run(&t, 20 * MS, 3);
		expect_equal(&t, 0, 1, MAX_LEAD);
	}
	trial_close(&t);
}

/* The round of a column that begins is no further from the one served last than MAX_LEAD. */
static void the_place_of_one_that_comes_back(void **state) {
	static const struct {
		uint64_t served, had, has;
	} cases[] = {
		{1000, 0, 1000 - MAX_LEAD},
		{1000, 1000 - MAX_LEAD - 1, 1000 - MAX_LEAD},
		{1000, 1000 - MAX_LEAD, 1000 - MAX_LEAD},
		{1000, 1000, 1000},
		{1000, 1000 + MAX_LEAD, 1000 + MAX_LEAD},
		{1000, 1000 + MAX_LEAD + 1, 1000 + MAX_LEAD},
		{1000, 5000, 1000 + MAX_LEAD},
		{MAX_LEAD - 1, 0, 0}, /* nothing is below the first round */
	};
	const struct scheduler_group groups[] = {{one_channel, 1}, {one_channel, 1}};
	const struct scheduler_channel channel = {.rate = GBPS};
	struct scheduler_grant g;
	struct trial t;

	(void)state;
	trial_open(&t, groups, 2, &channel, 1);
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		crowd(&t)->served[COLUMN] = cases[i].served;
		column_of(&t, 1)->round = cases[i].had;
		arrive(&t, 1);
		assert_int_equal(column_of(&t, 1)->round, cases[i].has);
		t.now += MS;
		assert_int_equal(scheduler_dequeue(t.s, t.now, &g, 1), 1);
	}
	trial_close(&t);
}

/* Group 1 has a channel of its own, and has not any more: that it was ahead is soon forgotten. */
static void one_that_was_ahead_is_soon_served(bool away) {
	const struct scheduler_group groups[] = {{one_channel, 1}, {both_channels, 2}};
	struct scheduler_channel channels[] = {{.rate = GBPS / 10}, {.rate = 10 * GBPS}};
	struct trial t;

	trial_open(&t, groups, 2, channels, 2);
	run(&t, 300 * MS, 3);
	assert_true(t.had[1] > 50 * t.had[0]);
	if (away) {
		run(&t, 10 * MS, 1);
		run(&t, MS, 0);
	}
	channels[1].rate = SCHEDULER_RATE_MIN; /* of which one packet takes 12 seconds */
	assert_null(scheduler_set_channel(t.s, 1, &channels[1]));
	run(&t, 100 * MS, 3);
	/* four gaps of MAX_LEAD may have come together before they are cut again; one that comes
	 * back is in its place at once */
	expect_equal(&t, 0, 1, away ? MAX_LEAD + 1 : 4 * MAX_LEAD + 2);
	trial_close(&t);
}

static void one_that_stays_ahead_is_soon_served(void **state) {
	(void)state;
	one_that_was_ahead_is_soon_served(false);
}

static void one_that_comes_back_ahead_is_soon_served(void **state) {
	(void)state;
	one_that_was_ahead_is_soon_served(true);
}

/* Rounds of groups that did not compete say nothing of one another: put together they are equal. */
static void those_put_together_begin_as_equals(void **state) {
	const struct scheduler_group groups[] = {{&both_channels[0], 1}, {&both_channels[1], 1}};
	const struct scheduler_channel channels[] = {{.rate = GBPS / 10}, {.rate = 10 * GBPS}};

	(void)state;
	for (uint32_t joins = 0; joins < 2; joins++) {
		struct trial t;

		trial_open(&t, groups, 2, channels, 2);
		run(&t, 300 * MS, 3);
		assert_null(scheduler_set_group(t.s, joins, &groups[1 - joins]));
		while (scheduler_is_changing(t.s))
			scheduler_dequeue(t.s, t.now, NULL, 0);
		run(&t, 2 * MS, 3);
		expect_equal(&t, 0, 1, 1);
		trial_close(&t);
	}
}

/* Whether there is a limit for all says who competes; how much it is does not. */
static void another_limit_moves_nobody(void **state) {
	static const struct {
		uint64_t limit;
		bool moves;
	} changes[] = {{0, false},	  {GBPS, true}, {GBPS, false},
		       {2 * GBPS, false}, {0, true},	{0, false}};
	const struct scheduler_group groups[] = {{one_channel, 1}, {one_channel, 1}};
	const struct scheduler_channel channel = {.rate = GBPS};
	struct trial t;

	(void)state;
	trial_open(&t, groups, 2, &channel, 1);
	for (size_t i = 0; i < ARRAY_COUNT(changes); i++) {
		uint32_t cluster = t.s->groups[1].cluster;

		column_of(&t, 1)->round = 5;
		assert_null(scheduler_set_rate_limit(t.s, changes[i].limit));
		while (scheduler_is_changing(t.s))
			scheduler_dequeue(t.s, t.now, NULL, 0);
		assert_int_equal(t.s->groups[1].cluster != cluster, changes[i].moves);
		assert_int_equal(column_of(&t, 1)->round, changes[i].moves ? 0 : 5);
	}
	trial_close(&t);
}

/* All groups look anew at their channels when a change begins, and not again while it goes on. */
static void a_change_wakes_them_once(void **state) {
	const struct scheduler_channel channel = {.rate = GBPS};
	static struct scheduler_group groups[TRIAL_GROUPS];
	struct scheduler_grant g[64];
	const struct cluster *c;
	struct trial t;

	(void)state;
	for (uint32_t i = 0; i < TRIAL_GROUPS; i++)
		groups[i] = (struct scheduler_group){one_channel, 1};
	trial_open(&t, groups, TRIAL_GROUPS, &channel, 1);
	c = crowd(&t);
	for (uint32_t i = 0; i < 200; i++) /* those that move last */
		arrive(&t, TRIAL_GROUPS - 1 - i % 10);
	while (c->awake_count > 0)
		scheduler_dequeue(t.s, t.now, g, ARRAY_COUNT(g));
	assert_null(scheduler_set_group(t.s, 0, &groups[0]));
	for (unsigned turn = 0; turn < 2; turn++) {
		unsigned granted = 0;

		t.now += (SCHEDULER_LEAD_NS - SCHEDULER_REST_NS) / 4;
		do
			granted += scheduler_dequeue(t.s, t.now, g, ARRAY_COUNT(g));
		while (c->awake_count > 0);
		assert_int_equal(granted > 0, turn == 0);
		assert_ptr_equal(c, &t.s->clusters[t.s->groups[TRIAL_GROUPS - 1].cluster]);
		assert_true(scheduler_is_changing(t.s));
	}
	trial_close(&t);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_was_away_gets_no_more),
		cmocka_unit_test(the_place_of_one_that_comes_back),
		cmocka_unit_test(one_that_stays_ahead_is_soon_served),
		cmocka_unit_test(one_that_comes_back_ahead_is_soon_served),
		cmocka_unit_test(those_put_together_begin_as_equals),
		cmocka_unit_test(another_limit_moves_nobody),
		cmocka_unit_test(a_change_wakes_them_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
