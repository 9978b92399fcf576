/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the leads of groups that share channels: rounds by which one is ahead of another (scheduler/leads.h). Compares
 * their reduction, at once and in steps, with a slow one that visits all pairs. */
#include "test_main.h"

#include "scheduler/class_queues.h"
#include "scheduler/leads.h"
#include "scheduler_kit.h"

#define GBPS KIT_MBPS(1000)
#define BYTES 1500
#define PRIORITY 3 /* of all flows */
#define MAX_REDUCED 200 /* groups of check_reduction() */

/* Adds a group with one flow of its own modem. */
static void add_group(struct kit *k, uint32_t first, uint32_t channels) {
	kit_add_flow(k, (struct scheduler_flow){
				.group = kit_add_group_range(k, first, channels),
				.modem = kit_add_modem(k, 0, 0),
				.priority = PRIORITY,
			});
}

/* Starts `n` groups with one channel. */
static struct kit start_groups(uint32_t n) {
	struct kit k = kit_init();

	k.config.packet_limit = 1000; /* less memory to set up */
	kit_add_channel(&k, GBPS);
	for (uint32_t i = 0; i < n; i++)
		add_group(&k, 0, 1);
	kit_start(&k);
	return k;
}

static struct class_queue *class_queue_of(const struct kit *k, uint32_t group) {
	return &k->s->groups[group].queues[PRIORITY];
}

/* The cluster of all groups. */
static struct cluster *cluster_of(const struct kit *k) {
	return &k->s->clusters[k->s->groups[0].cluster];
}

static void finish_changes(struct kit *k) {
	while (scheduler_is_changing(k->s))
		scheduler_dequeue(k->s, k->now, NULL, 0);
}

/* Runs for `ns`. The groups whose bits are set always have packets. */
static void run(struct kit *k, uint64_t ns, unsigned on) {
	for (uint32_t i = 0; i < k->config.flow_count; i++)
		kit_feed(k, i, BYTES, BYTES, on >> i & 1 ? 20 : 0);
	kit_measure(k, 0, ns);
}

/* Both groups sent equally much, up to `rounds` quanta of 2,048 bytes and three packets. */
static void check_equal(const struct kit *k, uint64_t rounds) {
	const uint64_t a = k->flows[0].packets, b = k->flows[1].packets;

	if ((a > b ? a - b : b - a) > rounds * QUANTUM / BYTES + 3)
		fail_msg("%llu packets against %llu", (unsigned long long)a, (unsigned long long)b);
}

/* Two channels, the first slower. Group 0 has the first, group 1 `channels` from `first` on. Both have been served for
 * 300 ms. */
static struct kit two_groups(uint32_t first, uint32_t channels) {
	struct kit k = kit_init();

	kit_add_channel(&k, GBPS / 10);
	kit_add_channel(&k, 10 * GBPS);
	add_group(&k, 0, 1);
	add_group(&k, first, channels);
	kit_start(&k);
	run(&k, 300 * KIT_MS, 3);
	return k;
}

/* The channel that only group 1 uses becomes slow; in the second run while the group has no packets. Its lead must not
 * count for long. A removed channel would move the groups to new clusters, where they start as equals. */
TEST(lead_of_slowed_channel_is_soon_forgotten) {
	for (unsigned idle = 0; idle < 2; idle++) {
		struct kit k = two_groups(0, 2);

		assert_true(k.flows[1].packets > 50 * k.flows[0].packets);
		if (idle > 0) {
			run(&k, 10 * KIT_MS, 1);
			run(&k, KIT_MS, 0);
		}
		k.channels[1].rate = SCHEDULER_RATE_MIN; /* a packet takes 12 seconds */
		assert_null(scheduler_set_channel(k.s, 1, &k.channels[1]));
		run(&k, 100 * KIT_MS, 3);
		/* leads are reduced from 2 * MAX_LEAD per group on; a group that returns is at most MAX_LEAD ahead */
		check_equal(&k, idle > 0 ? MAX_LEAD + 1 : 4 * MAX_LEAD + 2);
		kit_close(&k);
	}
}

/* Rounds of groups that did not compete cannot be compared: put together, they start as equals. */
TEST(joined_groups_start_as_equals) {
	for (uint32_t joins = 0; joins < 2; joins++) {
		struct kit k = two_groups(1, 1);

		assert_null(scheduler_set_group(k.s, joins, &k.groups[1 - joins]));
		finish_changes(&k);
		run(&k, 2 * KIT_MS, 3);
		check_equal(&k, 1);
		kit_close(&k);
	}
}

/* Reduces leads as docs/scheduler.md describes. `*served` is the round served last. If its group has no packets now,
 * that round may lie within a gap between two busy groups; it then stays within the reduced gap. */
static void slow_reduction(uint64_t *rounds, const bool *busy, uint32_t n, uint64_t *served) {
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 0; i < n; i++) {
			uint64_t next = UINT64_MAX, excess;

			for (uint32_t k = 0; k < n && busy[i]; k++)
				next = busy[k] && rounds[k] > rounds[i] && rounds[k] < next
					       ? rounds[k]
					       : next;
			if (next == UINT64_MAX || next - rounds[i] <= MAX_LEAD)
				continue;
			excess = next - rounds[i] - MAX_LEAD;
			for (uint32_t k = 0; k < n; k++)
				rounds[k] -= busy[k] && rounds[k] >= next ? excess : 0;
			if (*served >= next)
				*served -= excess;
			else if (*served > rounds[i])
				*served = (uint64_t)less((int64_t)*served,
							 (int64_t)rounds[i] + MAX_LEAD);
			changed = true;
		}
	}
}

/* Sets random rounds from `low` on, with gaps of all sizes, and gives packets to some groups.
 * Returns the lowest round of those. */
static uint64_t random_rounds(struct kit *k, uint64_t low, struct random *r, bool *busy,
			      uint64_t *rounds) {
	const uint32_t n = (uint32_t)k->config.group_count;
	uint64_t lowest = UINT64_MAX;

	for (uint32_t i = 0; i < n; i++) {
		busy[i] = i < 2 || random_below(r, 4) > 0;
		rounds[i] = low + random_below(r, random_below(r, 2) ? 40 : 2 * MAX_LEAD * n);
		if (busy[i])
			kit_enqueue(k, i, BYTES);
		class_queue_of(k, i)->round = rounds[i];
		if (busy[i])
			group_set_key(k->s, i);
		lowest = busy[i] && rounds[i] < lowest ? rounds[i] : lowest;
	}
	return lowest;
}

/* Compares the reduction of random rounds with the slow one. */
static void check_reduction(uint32_t n, uint64_t low, uint64_t seed) {
	struct random r = {seed};
	bool busy[MAX_REDUCED];
	struct kit k = start_groups(n);
	uint64_t rounds[MAX_REDUCED], lowest = random_rounds(&k, low, &r, busy, rounds);
	uint64_t served = lowest + random_below(&r, 2 * MAX_LEAD * n);

	cluster_of(&k)->far_ahead[PRIORITY] = lowest + 2 * MAX_LEAD * n;
	cluster_of(&k)->served[PRIORITY] = served;
	slow_reduction(rounds, busy, n, &served);
	if (lowest > MAX_ROUND / 2) {
		for (uint32_t i = 0; i < n; i++)
			rounds[i] -= busy[i] ? MAX_ROUND / 2 : 0;
		lowest -= MAX_ROUND / 2;
		served -= MAX_ROUND / 2;
	}
	leads_reduce(k.s, k.s->groups[0].cluster, PRIORITY);
	while (k.s->reducing) {
		/* leads_apply() comes first for some; leads_continue() must not reduce them again */
		for (uint32_t i = 0; i < n; i += busy[i] ? 1 + random_below(&r, 3) : 1) {
			if (busy[i])
				leads_apply(k.s, i, PRIORITY);
		}
		leads_continue(k.s);
	}
	for (uint32_t i = 0; i < n; i++) {
		const int64_t key = cluster_of(&k)->keys[k.s->groups[i].slot];

		assert_int_equal(class_queue_of(&k, i)->round, rounds[i]);
		if (busy[i])
			assert_int_equal(key >> KEY_ROUND & (2 * MAX_ROUND - 1), rounds[i]);
	}
	assert_int_equal(cluster_of(&k)->served[PRIORITY], served);
	assert_int_equal(cluster_of(&k)->far_ahead[PRIORITY],
			 lowest + (uint64_t)2 * MAX_LEAD * cluster_of(&k)->present_count);
	kit_close(&k);
}

TEST(leads_are_reduced_as_documented) {
	static const uint32_t sizes[] = {2, 3, 6, 40, 64, 100, MAX_REDUCED};

	for (uint64_t seed = 1; seed < 60; seed++) {
		for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
			check_reduction(sizes[i], 0, seed);
			check_reduction(sizes[i], 1000000 + seed, seed);
			check_reduction(sizes[i], MAX_ROUND / 2 + 1 + seed, seed);
		}
	}
}

/* A reduction in steps that also lowers all rounds by MAX_ROUND / 2. Group 0 gets packets before the reductions are
 * computed and is reduced with the others. Then group `ahead` is reduced when it is served, and group `last`, which
 * gets packets, has a reduced round at once. */
TEST(groups_move_during_reduction) {
	const uint64_t low = MAX_ROUND / 2 + 100;
	const uint32_t first = 400, ahead = 450, last = 599;
	const uint32_t apart = 12; /* rounds between two groups; the reduction leaves MAX_LEAD */
	struct kit k = start_groups(last + 1);

	for (uint32_t i = first; i < last; i++) {
		kit_enqueue(&k, i, BYTES);
		class_queue_of(&k, i)->round = low + apart * (i - first);
		group_set_key(k.s, i);
	}
	class_queue_of(&k, last)->round = low + apart;
	cluster_of(&k)->served[PRIORITY] = low;
	cluster_of(&k)->far_ahead[PRIORITY] = low + (uint64_t)2 * MAX_LEAD * (last - first);
	leads_reduce(k.s, k.s->groups[0].cluster, PRIORITY);
	leads_continue(k.s);
	/* a mark that a reduction in its former cluster left: must not count */
	k.s->groups[0].reductions = 1u << PRIORITY;
	kit_enqueue(&k, 0, BYTES);
	assert_int_equal(class_queue_of(&k, 0)->round, low - MAX_LEAD);
	while (cluster_of(&k)->served[PRIORITY] == low)
		leads_continue(k.s);
	assert_int_equal(cluster_of(&k)->served[PRIORITY], 100);
	for (unsigned i = 0; i < apart; i++)
		class_queue_next_round(k.s, ahead, PRIORITY);
	kit_enqueue(&k, last, BYTES);
	assert_int_equal(class_queue_of(&k, last - 1)->round, low + apart * (last - 1 - first));
	while (k.s->reducing)
		leads_continue(k.s);
	/* was below all recorded rounds: gets the lowest */
	assert_int_equal(class_queue_of(&k, 0)->round, 100);
	assert_int_equal(class_queue_of(&k, last)->round, 100 + MAX_LEAD);
	for (uint32_t i = first; i < last; i++)
		assert_int_equal(class_queue_of(&k, i)->round,
				 100 + MAX_LEAD * (i - first) + (i == ahead ? apart : 0));
	kit_close(&k);
}
