/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scheduler: groups that share channels, of which one comes back or is ahead; how leads are cut, at once
 * and in steps, against a cut that looks at all groups for each of them.
 */
#include "test_main.h"

#include "scheduler/class_queues.h"
#include "scheduler/leads.h"
#include "scheduler_kit.h"

#define GBPS KIT_BPS(1000)
#define BYTES 1500
#define COLUMN 3 /* in which all groups wait */
#define MOST_GROUPS 200

/* One flow a group, each of a modem of its own. */
static void add_group(struct kit *k, uint32_t first, uint32_t channels) {
	kit_flow(k, (struct scheduler_flow){
			    .group = kit_group_range(k, first, channels),
			    .modem = kit_modem(k, 0, 0),
			    .priority = COLUMN,
		    });
}

/* Groups of one channel. */
static struct kit crowd_open(uint32_t n) {
	struct kit k = kit_make();

	k.config.packet_limit = 1000; /* of which the memory takes less time to be set up */
	kit_channel(&k, GBPS);
	for (uint32_t i = 0; i < n; i++)
		add_group(&k, 0, 1);
	kit_start(&k);
	return k;
}

static struct class_queue *column_of(const struct kit *k, uint32_t group) {
	return &k->s->groups[group].queues[COLUMN];
}

/* Where groups all share channels. */
static struct cluster *crowd(const struct kit *k) {
	return &k->s->clusters[k->s->groups[0].cluster];
}

static void finish_changes(struct kit *k) {
	while (scheduler_is_changing(k->s))
		scheduler_dequeue(k->s, k->now, NULL, 0);
}

/* The groups whose bits are set always have something to send. */
static void run(struct kit *k, uint64_t ns, unsigned on) {
	for (uint32_t i = 0; i < k->config.flow_count; i++)
		kit_feed(k, i, BYTES, BYTES, on >> i & 1 ? 20 : 0);
	kit_measure(k, 0, ns);
}

/* Equal but for the rounds that one may be behind, of which each is 2,048 bytes. */
static void expect_equal(const struct kit *k, uint64_t rounds) {
	const uint64_t a = k->flows[0].packets, b = k->flows[1].packets;

	if ((a > b ? a - b : b - a) > rounds * QUANTUM / BYTES + 3)
		fail_msg("%llu packets against %llu", (unsigned long long)a, (unsigned long long)b);
}

/* Group 0 has the slower of two channels, group 1 these; both have had their turns for some time. */
static struct kit two_groups(uint32_t first, uint32_t channels) {
	struct kit k = kit_make();

	kit_channel(&k, GBPS / 10);
	kit_channel(&k, 10 * GBPS);
	add_group(&k, 0, 1);
	add_group(&k, first, channels);
	kit_start(&k);
	run(&k, 300 * KIT_MS, 3);
	return k;
}

/* Group 1 has a channel of its own, and has not any more: that it was ahead is soon forgotten. */
TEST(one_that_was_ahead_is_soon_served) {
	for (unsigned away = 0; away < 2; away++) {
		struct kit k = two_groups(0, 2);

		assert_true(k.flows[1].packets > 50 * k.flows[0].packets);
		if (away > 0) {
			run(&k, 10 * KIT_MS, 1);
			run(&k, KIT_MS, 0);
		}
		k.channels[1].rate = SCHEDULER_RATE_MIN; /* of which one packet takes 12 seconds */
		assert_null(scheduler_set_channel(k.s, 1, &k.channels[1]));
		run(&k, 100 * KIT_MS, 3);
		/* four gaps of MAX_LEAD may have come together before they are cut again; one that
		 * comes back is in its slot at once */
		expect_equal(&k, away > 0 ? MAX_LEAD + 1 : 4 * MAX_LEAD + 2);
		kit_end(&k);
	}
}

/* Rounds of groups that did not compete say nothing of one another: put together they are equal. */
TEST(those_put_together_begin_as_equals) {
	for (uint32_t joins = 0; joins < 2; joins++) {
		struct kit k = two_groups(1, 1);

		assert_null(scheduler_set_group(k.s, joins, &k.groups[1 - joins]));
		finish_changes(&k);
		run(&k, 2 * KIT_MS, 3);
		expect_equal(&k, 1);
		kit_end(&k);
	}
}

/* A cut as docs/scheduler.md has it. The group of the round served last need not be there any more: that may lie between
 * those of two others. */
static void slow_cut(uint64_t *rounds, const bool *waits, uint32_t n, uint64_t *served) {
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
			if (*served >= next)
				*served -= excess;
			else if (*served > rounds[i])
				*served = (uint64_t)less((int64_t)*served,
							 (int64_t)rounds[i] + MAX_LEAD);
			again = true;
		}
	}
}

/* Of groups that share a channel, those that wait have a packet. Rounds are from `low` on, with gaps of all sizes. Returns
 * the lowest of those that wait. */
static uint64_t random_crowd(struct kit *k, uint64_t low, struct random *r, bool *waits,
			     uint64_t *rounds) {
	const uint32_t n = (uint32_t)k->config.group_count;
	uint64_t lowest = UINT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		waits[i] = i < 2 || random_below(r, 4) > 0;
		rounds[i] = low + random_below(r, random_below(r, 2) ? 40 : 2 * MAX_LEAD * n);
		if (waits[i])
			kit_put(k, i, BYTES);
		column_of(k, i)->round = rounds[i];
		if (waits[i])
			group_set_key(k->s, i);
		lowest = waits[i] && rounds[i] < lowest ? rounds[i] : lowest;
	}
	return lowest;
}

static void cut_alike(uint32_t n, uint64_t low, uint64_t seed) {
	struct random r = {seed};
	bool waits[MOST_GROUPS];
	struct kit k = crowd_open(n);
	uint64_t rounds[MOST_GROUPS], lowest = random_crowd(&k, low, &r, waits, rounds);
	uint64_t served = lowest + random_below(&r, 2 * MAX_LEAD * n);

	crowd(&k)->far_ahead[COLUMN] = lowest + 2 * MAX_LEAD * n;
	crowd(&k)->served[COLUMN] = served;
	slow_cut(rounds, waits, n, &served);
	if (lowest > MAX_ROUND / 2) {
		for (uint32_t i = 0; i < n; i++)
			rounds[i] -= waits[i] ? MAX_ROUND / 2 : 0;
		lowest -= MAX_ROUND / 2;
		served -= MAX_ROUND / 2;
	}
	leads_reduce(k.s, k.s->groups[0].cluster, COLUMN);
	while (k.s->reducing) { /* whoever is told before its turn is not told again */
		for (uint32_t i = 0; i < n; i += waits[i] ? 1 + random_below(&r, 3) : 1) {
			if (waits[i])
				leads_apply(k.s, i, COLUMN);
		}
		leads_continue(k.s);
	}
	for (uint32_t i = 0; i < n; i++) {
		const int64_t key = crowd(&k)->keys[k.s->groups[i].slot];

		assert_int_equal(column_of(&k, i)->round, rounds[i]);
		if (waits[i])
			assert_int_equal(key >> KEY_ROUND & (2 * MAX_ROUND - 1), rounds[i]);
	}
	assert_int_equal(crowd(&k)->served[COLUMN], served);
	assert_int_equal(crowd(&k)->far_ahead[COLUMN],
			 lowest + (uint64_t)2 * MAX_LEAD * crowd(&k)->present_count);
	kit_end(&k);
}

TEST(leads_are_cut_as_told) {
	static const uint32_t sizes[] = {2, 3, 6, 40, 64, 100, MOST_GROUPS};

	for (uint64_t seed = 1; seed < 60; seed++) {
		for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
			cut_alike(sizes[i], 0, seed);
			cut_alike(sizes[i], 1000000 + seed, seed);
			cut_alike(sizes[i], MAX_ROUND / 2 + 1 + seed, seed);
		}
	}
}

/*
 * A cut in steps that also restarts the rounds. A group that comes back before the amounts are known is cut
 * with the others. After that a group that goes on is cut first, and one that comes back keeps its round.
 */
TEST(groups_move_during_a_cut_in_steps) {
	const uint64_t low = MAX_ROUND / 2 + 100;
	const uint32_t first = 400, ahead = 450, last = 599;
	const uint32_t apart = 12; /* rounds, of which MAX_LEAD are left */
	struct kit k = crowd_open(last + 1);

	for (uint32_t i = first; i < last; i++) {
		kit_put(&k, i, BYTES);
		column_of(&k, i)->round = low + apart * (i - first);
		group_set_key(k.s, i);
	}
	column_of(&k, last)->round = low + apart;
	crowd(&k)->served[COLUMN] = low;
	crowd(&k)->far_ahead[COLUMN] = low + (uint64_t)2 * MAX_LEAD * (last - first);
	leads_reduce(k.s, k.s->groups[0].cluster, COLUMN);
	leads_continue(k.s);
	k.s->groups[0].reductions = 1u << COLUMN; /* left over from another cluster */
	kit_put(&k, 0, BYTES);
	assert_int_equal(column_of(&k, 0)->round, low - MAX_LEAD);
	while (crowd(&k)->served[COLUMN] == low)
		leads_continue(k.s);
	assert_int_equal(crowd(&k)->served[COLUMN], 100);
	for (unsigned i = 0; i < apart; i++)
		class_queue_next_round(k.s, ahead, COLUMN);
	kit_put(&k, last, BYTES);
	assert_int_equal(column_of(&k, last - 1)->round, low + apart * (last - 1 - first));
	while (k.s->reducing)
		leads_continue(k.s);
	assert_int_equal(column_of(&k, 0)->round, 100); /* no lower than the lowest noted */
	assert_int_equal(column_of(&k, last)->round, 100 + MAX_LEAD);
	for (uint32_t i = first; i < last; i++)
		assert_int_equal(column_of(&k, i)->round,
				 100 + MAX_LEAD * (i - first) + (i == ahead ? apart : 0));
	kit_end(&k);
}
