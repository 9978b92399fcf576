/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scheduler: no call takes long, however many flows and groups there are. Time is none to be tested;
 * the library of this test is built so that it tells of every basic block that it comes to, and
 * their number is the same on any machine.
 */
#include "test_main.h"

#include "scheduler/internal.h"
#include "scheduler_kit.h"

/* Blocks of a call. A grant takes some 30, so that 64 of them with nothing else to do take 2,000;
 * whoever looks at all flows, or at all groups for each of some others, takes more than MOST. */
#define FEW 300
#define MOST 20000

#define FLOWS 20000
#define GROUPS 1024
#define CHANNELS SCHEDULER_MAX_CHANNELS
#define LONELY (CHANNELS - 1) /* a channel of no group */
#define SPAN 4 /* channels of a group */
#define BURST 64
#define GBPS KIT_BPS(1000)

void __sanitizer_cov_trace_pc(void); /* whose name the compiler knows */

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void) {
	blocks++;
}

static struct scheduler_group group_from(uint32_t first, uint32_t list[SPAN]) {
	for (uint32_t i = 0; i < SPAN; i++)
		list[i] = (first + i) % LONELY;
	return (struct scheduler_group){list, SPAN};
}

/* Flows of `of_modem` a modem, whose groups are one another's neighbours; to be varied, and started. */
static struct kit crowd_make(uint32_t flows, uint32_t of_modem, uint32_t groups) {
	struct kit k = kit_make();
	uint32_t list[SPAN];

	for (uint32_t i = 0; i < CHANNELS; i++)
		kit_channel(&k, GBPS);
	for (uint32_t i = 0; i < groups; i++) {
		group_from(3 * i, list);
		kit_group(&k, list, SPAN);
	}
	for (uint32_t i = 0; i < flows; i++) {
		kit_modem(&k, 0, 0);
		kit_flow(&k, (struct scheduler_flow){.group = i / of_modem % groups,
						     .modem = i / of_modem});
	}
	return k;
}

static void arrive(struct kit *k, uint32_t flow) {
	blocks = 0;
	assert_int_equal(kit_put(k, flow, 1000), SCHEDULER_QUEUED);
	assert_in_range(blocks, 1, FEW);
}

static void fill(struct kit *k, unsigned packets) {
	while (packets-- > 0) {
		for (uint32_t i = 0; i < k->config.flow_count; i++)
			arrive(k, i);
	}
}

/* A call of the length that the data plane gives. What goes comes again where it is to. Returns packets. */
static unsigned dequeue(struct kit *k, bool again) {
	struct scheduler_grant grants[BURST];
	unsigned n;

	blocks = 0;
	n = scheduler_dequeue(k->s, k->now, grants, BURST);
	if (blocks > MOST)
		fail_msg("a call took %llu blocks", (unsigned long long)blocks);
	for (unsigned i = 0; again && i < n; i++)
		arrive(k, grants[i].flow);
	return n;
}

static unsigned run(struct kit *k, unsigned calls, bool again) {
	unsigned n = 0;

	for (; calls > 0; calls--, k->now += 10000)
		n = dequeue(k, again);
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

/* One that goes, and comes again. */
static const char *change_lonely(struct kit *k, uint32_t i) {
	k->channels[LONELY].rate = i % 2 == 0 ? 0 : GBPS;
	return scheduler_set_channel(k->s, LONELY, &k->channels[LONELY]);
}

static const char *change_limit(struct kit *k, uint32_t i) {
	return scheduler_set_rate_limit(k->s, i % 2 == 0 ? 100 * GBPS : 0);
}

/* From the beginning, the middle, the end and elsewhere of the line in which it waits. */
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

/* As many changes as a reload makes between two rounds, then calls until all is as they want it. Of a flow also in a
 * line of thousands, of classes and of reserved flows. */
TEST(changes_are_few_steps) {
	static const struct {
		change_function *change;
		unsigned blocks, of_modem, groups;
		uint64_t reserved;
	} changes[] = {
		/* each channel of which there may be is looked at */
		{change_group, 5 * CHANNELS, 8, GROUPS, 0},
		{change_channel, FEW, 8, GROUPS, 0},
		{change_lonely, FEW, 8, GROUPS, 0},
		{change_limit, FEW, 8, GROUPS, 0},
		{change_modem, FEW, 8, GROUPS, 0},
		{change_flow, FEW, 8, GROUPS, 0},
		{change_flow, FEW, 1, 1, 0},
		{change_flow, FEW, 1, 1, 1000000},
	};

	for (unsigned c = 0; c < ARRAY_COUNT(changes); c++) {
		struct kit k = crowd_make(FLOWS, changes[c].of_modem, changes[c].groups);
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
		do /* traffic goes on meanwhile */
			assert_true(run(&k, 1, true) == BURST || changes[c].groups == 1);
		while (scheduler_is_changing(k.s) && ++calls < 100);
		assert_false(scheduler_is_changing(k.s));
		run(&k, 100, true);
		kit_free(&k);
	}
}

static uint32_t parked(const struct kit *k) {
	uint32_t n = 0;

	for (uint32_t i = 0; i < FLOWS; i++)
		n += k->s->flows[i].state == FLOW_PARKED;
	return n;
}

/* Calls until all flows wait for their rates, of which each parks some. */
static void park_all(struct kit *k) {
	uint32_t calls = 0;

	for (uint32_t before = 0; before < FLOWS; calls++) {
		dequeue(k, false);
		assert_in_range(parked(k), before, before + RR_STEPS);
		before = parked(k);
	}
	assert_in_range(calls, FLOWS / RR_STEPS, 4 * FLOWS / BURST);
}

/* All flows may send one packet and have to wait then, all for the same time. */
TEST(all_wait_for_their_rates_and_go) {
	struct kit k = crowd_make(FLOWS, 8, 64);
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
	before = parked(&k);
	do { /* until all wait for their next packets, which take as long again */
		dequeue(&k, false);
		assert_in_range(before - parked(&k), 0, TIMER_STEPS);
		before = parked(&k);
		if (++calls > 40 * FLOWS / BURST)
			fail_msg("%u flows still wait", before);
	} while (scheduler_has_more(k.s));
	kit_free(&k);
}

/* What was all right by the old rates has to wait by the new ones: none of the column may go. */
TEST(nobody_may_go) {
	struct kit k = crowd_make(FLOWS, 1, 1);

	for (uint32_t i = 0; i < FLOWS; i++)
		k.settings[i].sustained = (struct scheduler_limit){100 * GBPS, 1500};
	kit_start(&k);
	fill(&k, 3);
	for (uint32_t i = 0; i < FLOWS; i++) {
		k.s->flows[i].sustained.full_at =
			3600 * GBPS; /* hours ahead, as if all was taken */
		k.s->flows[i].sustained.depth = 1;
	}
	park_all(&k);
	assert_int_equal(scheduler_queued(k.s), 3 * FLOWS);
	kit_free(&k);
}

/*
 * All groups have something to send, under one limit, and channels of very different rates, so that
 * some get far ahead. Some wait in lower columns, which are due now and then; in the last case one alone.
 */
TEST(many_groups_take_turns) {
	static const uint8_t columns[] = {1, 7, 0};

	for (size_t c = 0; c < ARRAY_COUNT(columns); c++) {
		struct kit k = crowd_make(GROUPS, 1, GROUPS);
		bool cut = false;

		for (uint32_t i = 0; i < CHANNELS; i++)
			k.channels[i].rate = (i + 1) * (GBPS / 50);
		for (uint32_t i = 0; i < GROUPS; i++) {
			group_from(i / 4, (uint32_t *)(uintptr_t)k.groups[i].channels);
			k.groups[i].channel_count = 1;
			k.settings[i].priority = i == 700 ? 0 : 6;
			if (columns[c] > 0)
				k.settings[i].priority = (uint8_t)(i % columns[c]);
		}
		k.config.rate_limit = 1000 * GBPS;
		kit_start(&k);
		fill(&k, 4);
		for (unsigned i = 0; i < 1500; i++) {
			run(&k, 1, true);
			cut |= k.s->reducing;
		}
		assert_true(cut || columns[c] > 1);
		assert_true(k.s->flows[700].granted_packets > 4 || columns[c] > 0);
		kit_free(&k);
	}
}

/* All groups look anew at their channels when a change begins, and not again while it goes on. */
TEST(a_change_wakes_groups_once) {
	const uint32_t groups = 600;
	struct scheduler_grant g[BURST];
	struct kit k = kit_make();
	const struct cluster *c;

	kit_channel(&k, GBPS);
	for (uint32_t i = 0; i < groups; i++)
		kit_flow(&k, (struct scheduler_flow){.group = kit_group_range(&k, 0, 1)});
	kit_start(&k);
	c = &k.s->clusters[k.s->groups[0].cluster];
	for (uint32_t i = 0; i < 200; i++) /* those that move last */
		kit_put(&k, groups - 1 - i % 10, 1500);
	while (c->awake_count > 0)
		scheduler_dequeue(k.s, k.now, g, BURST);
	assert_null(scheduler_set_group(k.s, 0, &k.groups[0]));
	for (unsigned turn = 0; turn < 2; turn++) {
		unsigned granted = 0;

		k.now += (SCHEDULER_LEAD_NS - SCHEDULER_REST_NS) / 4;
		do
			granted += scheduler_dequeue(k.s, k.now, g, BURST);
		while (c->awake_count > 0);
		assert_int_equal(granted > 0, turn == 0);
		assert_ptr_equal(c, &k.s->clusters[k.s->groups[groups - 1].cluster]);
		assert_true(scheduler_is_changing(k.s));
	}
	kit_free(&k);
}
