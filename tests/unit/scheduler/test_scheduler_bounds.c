/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that each call has bounded work, however many flows and groups there are. The library of
 * this test calls it at each basic block. The number of blocks is the same on any machine. */
#include "test_main.h"

#include "scheduler/internal.h"
#include "scheduler_kit.h"

/* Blocks per call. A grant takes some 30, so that 64 of them take 2,000. A call that visits all
 * flows, or all groups for each of several others, exceeds MAX_BLOCKS. */
#define FEW_BLOCKS 300
#define MAX_BLOCKS 20000

#define FLOWS 20000
#define GROUPS 1024
#define CHANNELS SCHEDULER_MAX_CHANNELS
#define UNUSED (CHANNELS - 1) /* no group has this channel */
#define SPAN 4 /* channels per group */
#define BURST 64
#define GBPS KIT_MBPS(1000)

void __sanitizer_cov_trace_pc(void); /* the compiler calls it */

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void) {
	blocks++;
}

static struct scheduler_group group_from(uint32_t first, uint32_t list[SPAN]) {
	for (uint32_t i = 0; i < SPAN; i++)
		list[i] = (first + i) % UNUSED;
	return (struct scheduler_group){list, SPAN};
}

/* Adds flows, `per_modem` per modem, in groups that share channels. The caller starts the kit. */
static struct kit add_flows(uint32_t flows, uint32_t per_modem, uint32_t groups) {
	struct kit k = kit_init();
	uint32_t list[SPAN];

	for (uint32_t i = 0; i < CHANNELS; i++)
		kit_add_channel(&k, GBPS);
	for (uint32_t i = 0; i < groups; i++) {
		group_from(3 * i, list);
		kit_add_group(&k, list, SPAN);
	}
	for (uint32_t i = 0; i < flows; i++) {
		kit_add_modem(&k, 0, 0);
		kit_add_flow(&k, (struct scheduler_flow){.group = i / per_modem % groups,
							 .modem = i / per_modem});
	}
	return k;
}

static void enqueue(struct kit *k, uint32_t flow) {
	blocks = 0;
	assert_int_equal(kit_enqueue(k, flow, 1000), SCHEDULER_QUEUED);
	assert_in_range(blocks, 1, FEW_BLOCKS);
}

static void fill(struct kit *k, unsigned packets) {
	while (packets-- > 0) {
		for (uint32_t i = 0; i < k->config.flow_count; i++)
			enqueue(k, i);
	}
}

/* Dequeues as many packets as the data plane does. `refill` replaces each. Returns packets. */
static unsigned dequeue(struct kit *k, bool refill) {
	struct scheduler_grant grants[BURST];
	unsigned n;

	blocks = 0;
	n = scheduler_dequeue(k->s, k->now, grants, BURST);
	if (blocks > MAX_BLOCKS)
		fail_msg("a call took %llu blocks", (unsigned long long)blocks);
	for (unsigned i = 0; refill && i < n; i++)
		enqueue(k, grants[i].flow);
	return n;
}

static unsigned run(struct kit *k, unsigned calls, bool refill) {
	unsigned n = 0;

	for (; calls > 0; calls--, k->now += 10000)
		n = dequeue(k, refill);
	return n;
}

typedef const char *change_function(struct kit *k, uint32_t i);

static const char *change_group(struct kit *k, uint32_t i) {
	uint32_t list[SPAN];
	const struct scheduler_group g = group_from(5 * i, list);

	return scheduler_set_group(k->s, i * 37 % GROUPS, &g);
}

static const char *change_channel(struct kit *k, uint32_t i) {
	k->channels[i].rate /= 2;
	return scheduler_set_channel(k->s, i, &k->channels[i]);
}

/* Removes the channel, and adds it the next time. */
static const char *change_unused_channel(struct kit *k, uint32_t i) {
	k->channels[UNUSED].rate = i % 2 == 0 ? 0 : GBPS;
	return scheduler_set_channel(k->s, UNUSED, &k->channels[UNUSED]);
}

static const char *change_limit(struct kit *k, uint32_t i) {
	return scheduler_set_rate_limit(k->s, i % 2 == 0 ? 100 * GBPS : 0);
}

/* Flows at the head, in the middle and at the end of their queue. */
static const char *change_flow(struct kit *k, uint32_t i) {
	const uint32_t flow = i * (FLOWS - 1) / 15;

	k->settings[flow].priority = 5;
	k->settings[flow].group = i % k->config.group_count;
	return scheduler_set_flow(k->s, flow, &k->settings[flow]);
}

static const char *change_modem(struct kit *k, uint32_t i) {
	k->modems[i].aggregate = (struct scheduler_limit){GBPS, 100000};
	return scheduler_set_modem(k->s, i, &k->modems[i]);
}

/* As many changes as a reload makes between two rounds, then calls until they have taken effect.
 * Flows are also changed in a class queue and a reserved queue with thousands of members. */
TEST(changes_take_limited_steps) {
	static const struct {
		change_function *change;
		unsigned blocks, per_modem, groups;
		uint64_t reserved;
	} changes[] = {
		/* each possible channel is visited */
		{change_group, 5 * CHANNELS, 8, GROUPS, 0},
		{change_channel, FEW_BLOCKS, 8, GROUPS, 0},
		{change_unused_channel, FEW_BLOCKS, 8, GROUPS, 0},
		{change_limit, FEW_BLOCKS, 8, GROUPS, 0},
		{change_modem, FEW_BLOCKS, 8, GROUPS, 0},
		{change_flow, FEW_BLOCKS, 8, GROUPS, 0},
		{change_flow, FEW_BLOCKS, 1, 1, 0},
		{change_flow, FEW_BLOCKS, 1, 1, 1000000},
	};

	for (unsigned c = 0; c < ARRAY_COUNT(changes); c++) {
		struct kit k = add_flows(FLOWS, changes[c].per_modem, changes[c].groups);
		unsigned calls = 0;

		for (uint32_t i = 0; i < FLOWS; i++)
			k.settings[i].reserved = changes[c].reserved;
		kit_start(&k);
		fill(&k, 2);
		run(&k, 20, true);
		for (uint32_t i = 0; i < 16; i++) {
			blocks = 0;
			assert_null(changes[c].change(&k, i));
			assert_in_range(blocks, 1, changes[c].blocks);
		}
		do /* while traffic continues */
			assert_true(run(&k, 1, true) == BURST || changes[c].groups == 1);
		while (scheduler_is_changing(k.s) && ++calls < 100);
		assert_false(scheduler_is_changing(k.s));
		run(&k, 100, true);
		kit_free(&k);
	}
}

static uint32_t count_parked(const struct kit *k) {
	uint32_t n = 0;

	for (uint32_t i = 0; i < FLOWS; i++)
		n += k->s->flows[i].state == FLOW_PARKED;
	return n;
}

/* Calls until all flows are parked. Each call parks a limited number. */
static void park_all(struct kit *k) {
	uint32_t calls = 0;

	for (uint32_t before = 0; before < FLOWS; calls++) {
		dequeue(k, false);
		assert_in_range(count_parked(k), before, before + RR_STEPS);
		before = count_parked(k);
	}
	assert_in_range(calls, FLOWS / RR_STEPS, 4 * FLOWS / BURST);
}

/* All flows may send one packet, and are then parked for the same time. */
TEST(parked_flows_resume_in_limited_steps) {
	struct kit k = add_flows(FLOWS, 8, 64);
	uint32_t before, calls = 0;

	for (uint32_t i = 0; i < FLOWS; i++)
		k.settings[i].sustained = (struct scheduler_limit){100000, 1500};
	for (uint32_t i = 0; i < CHANNELS; i++)
		k.channels[i].rate = 100 * GBPS;
	kit_start(&k);
	fill(&k, 3);
	park_all(&k);
	k.now += KIT_S;
	scheduler_dequeue(k.s, k.now, NULL, 0);
	assert_true(scheduler_has_more(k.s));
	before = count_parked(&k);
	do { /* until all are parked for the same time again */
		dequeue(&k, false);
		assert_in_range(before - count_parked(&k), 0, TIMER_STEPS);
		before = count_parked(&k);
		if (++calls > 40 * FLOWS / BURST)
			fail_msg("%u flows are still parked", before);
	} while (scheduler_has_more(k.s));
	kit_free(&k);
}

/* Rates have become so low that no flow of the class queue may send. */
TEST(blocked_flows_take_limited_steps) {
	struct kit k = add_flows(FLOWS, 1, 1);

	for (uint32_t i = 0; i < FLOWS; i++)
		k.settings[i].sustained = (struct scheduler_limit){100 * GBPS, 1500};
	kit_start(&k);
	fill(&k, 3);
	for (uint32_t i = 0; i < FLOWS; i++) {
		k.s->flows[i].sustained.full_at =
			3600 * GBPS; /* hours ahead: the bucket is empty */
		k.s->flows[i].sustained.depth = 1;
	}
	park_all(&k);
	assert_int_equal(scheduler_queued(k.s), 3 * FLOWS);
	kit_free(&k);
}

/* All groups have packets, under one rate limit, on channels of very different rates, so that some
 * get far ahead. Some have lower priorities; in the last case a single one. */
TEST(many_groups_take_limited_steps) {
	static const uint8_t priorities[] = {1, 7, 0};

	for (size_t c = 0; c < ARRAY_COUNT(priorities); c++) {
		struct kit k = add_flows(GROUPS, 1, GROUPS);
		bool reduced = false;

		for (uint32_t i = 0; i < CHANNELS; i++)
			k.channels[i].rate = (i + 1) * (GBPS / 50);
		for (uint32_t i = 0; i < GROUPS; i++) {
			group_from(i / 4, (uint32_t *)(uintptr_t)k.groups[i].channels);
			k.groups[i].channel_count = 1;
			k.settings[i].priority = i == 700 ? 0 : 6;
			if (priorities[c] > 0)
				k.settings[i].priority = (uint8_t)(i % priorities[c]);
		}
		k.config.rate_limit = 1000 * GBPS;
		kit_start(&k);
		fill(&k, 4);
		for (unsigned i = 0; i < 1500; i++) {
			run(&k, 1, true);
			reduced |= k.s->reducing;
		}
		assert_true(reduced || priorities[c] > 1);
		assert_true(k.s->flows[700].granted_packets > 4 || priorities[c] > 0);
		kit_free(&k);
	}
}

/* All groups check their channels when a change begins, and not again until it has taken effect. */
TEST(change_wakes_groups_once) {
	const uint32_t groups = 600;
	struct scheduler_grant g[BURST];
	struct kit k = kit_init();
	const struct cluster *c;

	kit_add_channel(&k, GBPS);
	for (uint32_t i = 0; i < groups; i++)
		kit_add_flow(&k, (struct scheduler_flow){.group = kit_add_group_range(&k, 0, 1)});
	kit_start(&k);
	c = &k.s->clusters[k.s->groups[0].cluster];
	for (uint32_t i = 0; i < 200; i++) /* groups that move last */
		kit_enqueue(&k, groups - 1 - i % 10, 1500);
	while (c->awake_count > 0)
		scheduler_dequeue(k.s, k.now, g, BURST);
	assert_null(scheduler_set_group(k.s, 0, &k.groups[0]));
	for (unsigned n = 0; n < 2; n++) {
		unsigned granted = 0;

		k.now += (SCHEDULER_LEAD_NS - SCHEDULER_WAKE_NS) / 4;
		do
			granted += scheduler_dequeue(k.s, k.now, g, BURST);
		while (c->awake_count > 0);
		assert_int_equal(granted > 0, n == 0);
		assert_ptr_equal(c, &k.s->clusters[k.s->groups[groups - 1].cluster]);
		assert_true(scheduler_is_changing(k.s));
	}
	kit_free(&k);
}
