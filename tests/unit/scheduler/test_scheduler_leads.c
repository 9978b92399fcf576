/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scheduler: groups that share channels, of which one comes back or is ahead, and how leads are cut,
 * at once and in steps, against a cut that looks at all groups for each of them.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "random.h"
#include "scheduler/columns.h"
#include "scheduler/leads.h"

#define GBPS UINT64_C(1000000000)
#define MS UINT64_C(1000000)
#define BYTES 1500
#define MOST_GROUPS 200

/* One flow a group, each of a modem of its own; groups by their lists of channels. */
struct trial {
	struct scheduler *s;
	uint64_t now;
	uint32_t groups;
	uint64_t had[MOST_GROUPS]; /* packets */
};

static void trial_open(struct trial *t, const struct scheduler_group *groups, uint32_t count,
		       const struct scheduler_channel *channels, uint32_t channel_count) {
	static struct scheduler_modem modems[MOST_GROUPS];
	struct scheduler_flow flows[MOST_GROUPS];
	const struct scheduler_config c = {
		.channels = channels,
		.channel_count = channel_count,
		.groups = groups,
		.group_count = count,
		.modems = modems,
		.modem_count = count,
		.flows = flows,
		.flow_count = count,
		.packet_limit = 100 * count,
	};

	for (uint32_t i = 0; i < count; i++)
		flows[i] = (struct scheduler_flow){
			.group = i,
			.modem = i,
			.weight = 1,
			.min_buffer = 20 * BYTES,
			.buffer = 20 * BYTES,
			.max_buffer = 20 * BYTES,
		};
	*t = (struct trial){.s = scheduler_create(&c, NULL), .groups = count};
	assert_non_null(t->s);
}

static void trial_close(struct trial *t) {
	while (scheduler_drain(t->s, (void *[1]){0}, 1) > 0)
		;
	scheduler_free(t->s);
}

static void arrive(struct trial *t, uint32_t flow) {
	struct scheduler_arrival in = {NULL, flow, BYTES};
	enum scheduler_verdict verdict;

	scheduler_enqueue(t->s, t->now, &in, 1, &verdict);
}

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

static const uint32_t one_channel[] = {0};
static const uint32_t both_channels[] = {0, 1};

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

static struct column *column_of(const struct trial *t, uint32_t group) {
	return &t->s->groups[group].columns[0];
}

static struct cluster *crowd(const struct trial *t) {
	return &t->s->clusters[t->s->groups[0].cluster];
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
	crowd(&t)->far_ahead[0] = lowest + 2 * MAX_LEAD * n;
	crowd(&t)->served[0] = rounds[1];
	slow_cut(rounds, waits, n);
	if (lowest > MAX_ROUND / 2) {
		for (uint32_t i = 0; i < n; i++)
			rounds[i] -= waits[i] ? MAX_ROUND / 2 : 0;
		lowest -= MAX_ROUND / 2;
	}
	leads_cut(t.s, t.s->groups[0].cluster, 0);
	while (t.s->cutting)
		leads_go_on(t.s);
	expect_rounds(&t, rounds, waits);
	assert_int_equal(crowd(&t)->served[0], rounds[1]);
	assert_int_equal(crowd(&t)->far_ahead[0],
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
	crowd(&t)->far_ahead[0] = 2 * MAX_LEAD * MOST_GROUPS;
	leads_cut(t.s, t.s->groups[0].cluster, 0);
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
	leads_cut(t.s, t.s->groups[0].cluster, 0);
	assert_true(t.s->cutting);
	assert_null(scheduler_set_group(t.s, 3, &again));
	for (uint32_t before = t.s->groups[0].cluster; t.s->groups[0].cluster == before;)
		scheduler_dequeue(t.s, t.now, NULL, 0);
	assert_false(t.s->cutting);
	trial_close(&t);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_that_was_away_gets_no_more),
		cmocka_unit_test(one_that_stays_ahead_is_soon_served),
		cmocka_unit_test(one_that_comes_back_ahead_is_soon_served),
		cmocka_unit_test(those_put_together_begin_as_equals),
		cmocka_unit_test(cut_ends_where_groups_move),
		cmocka_unit_test(leads_are_cut_as_told),
		cmocka_unit_test(turns_go_on_while_leads_are_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
