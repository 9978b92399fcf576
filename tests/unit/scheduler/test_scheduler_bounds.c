/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scheduler: no call takes long, however many flows and groups there are. Time is none to be tested;
 * the library of this test is built so that it tells of every basic block that it comes to, and
 * their number is the same on any machine.
 */
#include "test.h"

#include "random.h"
#include "scheduler/internal.h"

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
#define GBPS UINT64_C(1000000000)

void __sanitizer_cov_trace_pc(void); /* whose name the compiler knows */

static uint64_t blocks;

void __sanitizer_cov_trace_pc(void) {
	blocks++;
}

struct bench {
	struct scheduler *s;
	struct scheduler_channel channels[CHANNELS];
	uint32_t lists[GROUPS][SPAN];
	struct scheduler_group groups[GROUPS];
	struct scheduler_modem *modems;
	struct scheduler_flow *flows;
	uint32_t flow_count, group_count;
	uint64_t now;
	uint64_t most; /* blocks of a dequeue */
	unsigned granted; /* by the latest */
};

static void bench_group(struct bench *b, uint32_t group, uint32_t first) {
	for (uint32_t i = 0; i < SPAN; i++)
		b->lists[group][i] = (first + i) % LONELY;
	b->groups[group] = (struct scheduler_group){b->lists[group], SPAN};
}

/* Flows of `of_modem` a modem, whose groups are one another's neighbours; to be varied, and opened. */
static struct bench *bench_make(uint32_t flows, uint32_t of_modem, uint32_t groups) {
	struct bench *b = test_calloc(1, sizeof(*b));

	b->flow_count = flows;
	b->group_count = groups;
	b->modems = test_calloc(flows, sizeof(*b->modems));
	b->flows = test_calloc(flows, sizeof(*b->flows));
	for (uint32_t i = 0; i < CHANNELS; i++)
		b->channels[i].rate = GBPS;
	for (uint32_t i = 0; i < groups; i++)
		bench_group(b, i, 3 * i);
	for (uint32_t i = 0; i < flows; i++)
		b->flows[i] = (struct scheduler_flow){
			.group = i / of_modem % groups,
			.modem = i / of_modem,
			.weight = 1,
			.min_buffer = 100000,
			.buffer = 100000,
			.max_buffer = 100000,
		};
	return b;
}

static void bench_open(struct bench *b, uint64_t limit) {
	const struct scheduler_config c = {
		.channels = b->channels,
		.channel_count = CHANNELS,
		.groups = b->groups,
		.group_count = b->group_count,
		.modems = b->modems,
		.modem_count = b->flow_count,
		.flows = b->flows,
		.flow_count = b->flow_count,
		.rate_limit = limit,
		.packet_limit = 4 * b->flow_count,
	};

	b->s = scheduler_create(&c, NULL);
	assert_non_null(b->s);
}

static void bench_close(struct bench *b) {
	scheduler_free(b->s);
	test_free(b->modems);
	test_free(b->flows);
	test_free(b);
}

static void bench_arrive(struct bench *b, uint32_t flow) {
	struct scheduler_arrival in = {NULL, flow, 1000};
	enum scheduler_verdict verdict;

	blocks = 0;
	scheduler_enqueue(b->s, b->now, &in, 1, &verdict);
	assert_in_range(blocks, 1, FEW);
}

static void bench_fill(struct bench *b, unsigned packets) {
	while (packets-- > 0) {
		for (uint32_t i = 0; i < b->flow_count; i++)
			bench_arrive(b, i);
	}
}

/* A call of the length that the data plane gives. What goes comes again where it is to. */
static void bench_dequeue(struct bench *b, bool again) {
	struct scheduler_grant grants[BURST];

	blocks = 0;
	b->granted = scheduler_dequeue(b->s, b->now, grants, BURST);
	b->most = blocks > b->most ? blocks : b->most;
	if (blocks > MOST)
		fail_msg("a call took %llu blocks", (unsigned long long)blocks);
	for (unsigned i = 0; again && i < b->granted; i++)
		bench_arrive(b, grants[i].flow);
}

static void bench_run(struct bench *b, unsigned calls, bool again) {
	while (calls-- > 0) {
		bench_dequeue(b, again);
		b->now += 10000;
	}
}

/* The change is done, and was no more than a few blocks of work. */
static void expect_few(const char *why) {
	if (why != NULL)
		fail_msg("refused: %s", why);
	assert_in_range(blocks, 1, FEW);
}

typedef void bench_change(struct bench *b, uint32_t i);

static void change_group(struct bench *b, uint32_t i) {
	const uint32_t group = i * 37 % b->group_count;

	bench_group(b, group, 5 * i);
	blocks = 0;
	scheduler_set_group(b->s, group, &b->groups[group]);
	assert_in_range(blocks, 1,
			5 * CHANNELS); /* each channel of which there may be is looked at */
}

static void change_channel(struct bench *b, uint32_t i) {
	b->channels[i].rate /= 2;
	blocks = 0;
	expect_few(scheduler_set_channel(b->s, i, &b->channels[i]));
}

/* One that goes, and comes again. */
static void change_lonely(struct bench *b, uint32_t i) {
	b->channels[LONELY].rate = i % 2 == 0 ? 0 : GBPS;
	blocks = 0;
	expect_few(scheduler_set_channel(b->s, LONELY, &b->channels[LONELY]));
}

static void change_limit(struct bench *b, uint32_t i) {
	blocks = 0;
	expect_few(scheduler_set_rate_limit(b->s, i % 2 == 0 ? 100 * GBPS : 0));
}

static void change_flow(struct bench *b, uint32_t i) {
	const uint32_t flow = i * 1249;

	b->flows[flow].priority = 5;
	b->flows[flow].group = i;
	blocks = 0;
	expect_few(scheduler_set_flow(b->s, flow, &b->flows[flow]));
}

static void change_modem(struct bench *b, uint32_t i) {
	b->modems[i].aggregate = (struct scheduler_limit){GBPS, 100000};
	blocks = 0;
	expect_few(scheduler_set_modem(b->s, i, &b->modems[i]));
}

/* As many changes as a reload makes between two rounds, then calls until all is as they want it. */
static void one_sort_of_changes(bench_change *change) {
	struct bench *b = bench_make(FLOWS, 8, GROUPS);
	unsigned calls = 0;

	bench_open(b, 0);
	bench_fill(b, 2);
	bench_run(b, 20, true);
	for (uint32_t i = 0; i < 16; i++)
		change(b, i);
	do {
		bench_run(b, 1, true);
		assert_int_equal(b->granted, BURST); /* traffic goes on meanwhile */
	} while (scheduler_is_changing(b->s) && ++calls < 100);
	assert_false(scheduler_is_changing(b->s));
	bench_run(b, 100, true);
	bench_close(b);
}

static void changes_are_few_steps(void **state) {
	static bench_change *const changes[] = {
		change_group, change_channel, change_lonely,
		change_limit, change_flow,    change_modem,
	};

	(void)state;
	for (unsigned i = 0; i < ARRAY_COUNT(changes); i++)
		one_sort_of_changes(changes[i]);
}

/* The flow leaves a line of thousands, from its middle, its end and elsewhere. */
static void leave_a_long_line(struct bench *b) {
	static const uint32_t leaving[] = {FLOWS / 2, FLOWS - 1, 1, 0, FLOWS / 3};

	bench_open(b, 0);
	bench_fill(b, 1);
	for (unsigned i = 0; i < ARRAY_COUNT(leaving); i++) {
		b->flows[leaving[i]].priority = 3;
		blocks = 0;
		expect_few(scheduler_set_flow(b->s, leaving[i], &b->flows[leaving[i]]));
	}
	bench_run(b, 100, false);
	bench_close(b);
}

static void class_leaves_a_long_column(void **state) {
	(void)state;
	leave_a_long_line(bench_make(FLOWS, 1, 1));
}

static void flow_leaves_a_long_reserved_column(void **state) {
	struct bench *b = bench_make(FLOWS, 1, 1);

	(void)state;
	for (uint32_t i = 0; i < FLOWS; i++)
		b->flows[i].reserved = 1000000;
	leave_a_long_line(b);
}

static uint32_t parked(const struct bench *b) {
	uint32_t n = 0;

	for (uint32_t i = 0; i < FLOWS; i++)
		n += b->s->flows[i].state == FLOW_PARKED;
	return n;
}

/* All flows may send one packet and have to wait then, all for the same time. */
static void all_wait_for_their_rates_and_go(void **state) {
	struct bench *b = bench_make(FLOWS, 8, 64);
	uint32_t before, calls = 0;

	(void)state;
	for (uint32_t i = 0; i < FLOWS; i++)
		b->flows[i].sustained = (struct scheduler_limit){100000, 1500};
	for (uint32_t i = 0; i < CHANNELS; i++)
		b->channels[i].rate = 100 * GBPS;
	bench_open(b, 0);
	bench_fill(b, 3);
	for (before = 0; before < FLOWS; calls++) {
		bench_dequeue(b, false);
		assert_in_range(parked(b), before, before + TURN_STEPS);
		before = parked(b);
	}
	assert_in_range(calls, FLOWS / TURN_STEPS, 4 * FLOWS / BURST);
	b->now += GBPS; /* a second */
	scheduler_dequeue(b->s, b->now, NULL, 0);
	assert_true(scheduler_has_more(b->s));
	before = parked(b);
	for (; before > 0; calls++) {
		bench_dequeue(b, false);
		assert_in_range(before - parked(b), 0, TIMER_STEPS);
		before = b->granted > 0 || parked(b) > 0 ? parked(b) : 0;
		if (calls > 40 * FLOWS / BURST)
			fail_msg("%u flows still wait", before);
		if (before > 0 && parked(b) == before && !scheduler_has_more(b->s))
			break; /* for their next packets, which take as long again */
	}
	bench_close(b);
}

/* What was all right by the old rates has to wait by the new ones: none of the column may go. */
static void nobody_may_go(void **state) {
	struct bench *b = bench_make(FLOWS, 1, 1);
	uint32_t before = 0;

	(void)state;
	for (uint32_t i = 0; i < FLOWS; i++)
		b->flows[i].sustained = (struct scheduler_limit){100 * GBPS, 1500};
	bench_open(b, 0);
	bench_fill(b, 3);
	for (uint32_t i = 0; i < FLOWS; i++) {
		b->s->flows[i].sustained.full_at =
			3600 * GBPS; /* hours ahead, as if all was taken */
		b->s->flows[i].sustained.depth = 1;
	}
	while (before < FLOWS) {
		bench_dequeue(b, false);
		assert_int_equal(b->granted, 0);
		assert_in_range(parked(b), before + 1, before + TURN_STEPS);
		before = parked(b);
	}
	bench_close(b);
}

/*
 * All groups have something to send, under one limit, and channels of very different rates, so that
 * some get far ahead. Some wait in lower columns, which are due now and then.
 */
static void many_groups(uint32_t columns, bool lower) {
	struct bench *b = bench_make(GROUPS, 1, GROUPS);
	bool cut = false;

	for (uint32_t i = 0; i < CHANNELS; i++)
		b->channels[i].rate = (i + 1) * (GBPS / 50);
	for (uint32_t i = 0; i < GROUPS; i++) {
		bench_group(b, i, i / 4);
		b->groups[i].channel_count = 1;
		b->flows[i].priority = (uint8_t)(i % columns);
		if (lower)
			b->flows[i].priority = i == 700 ? 0 : 6;
	}
	bench_open(b, 1000 * GBPS);
	bench_fill(b, 4);
	for (unsigned i = 0; i < 1500; i++) {
		bench_run(b, 1, true);
		cut |= b->s->cutting;
	}
	assert_true(cut || columns > 1);
	if (lower)
		assert_true(b->s->flows[700].granted_packets > 4);
	bench_close(b);
}

static void many_groups_take_turns(void **state) {
	(void)state;
	many_groups(1, false);
}

static void many_groups_of_many_columns(void **state) {
	(void)state;
	many_groups(7, false);
}

static void one_lower_group_among_many(void **state) {
	(void)state;
	many_groups(1, true);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(changes_are_few_steps),
		cmocka_unit_test(class_leaves_a_long_column),
		cmocka_unit_test(flow_leaves_a_long_reserved_column),
		cmocka_unit_test(all_wait_for_their_rates_and_go),
		cmocka_unit_test(nobody_may_go),
		cmocka_unit_test(many_groups_take_turns),
		cmocka_unit_test(many_groups_of_many_columns),
		cmocka_unit_test(one_lower_group_among_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
