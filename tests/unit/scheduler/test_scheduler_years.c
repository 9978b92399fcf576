/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scheduler: a clock that runs for years, by jumps and across the ends of its wheel and its ticks. Two
 * schedulers that are brought to different times see the same arrivals: they are to give the same.
 */
#include "test_main.h"

#include <string.h>

#include "random.h"
#include "scheduler/internal.h"

#define MS UINT64_C(1000000)
#define MBPS UINT64_C(1000000)
#define HOUR UINT64_C(3600000000000)
#define DAY (24 * HOUR)
#define STEP_NS 50000
#define BEFORE (250 * MS) /* an end of something, and after it */
#define LENGTH 1000 /* bytes of a packet */

/* On the first channel a reserved flow beside a flood, on the second what has rates and drops. */
enum { RESERVED_FLOW, FLOOD, SUSTAINED, AGGREGATE, PEAK, PIE, WRED_FLOW, FLOWS };

#define CHANNEL_RATE (100 * MBPS)
#define FLOW_RATE (10 * MBPS)
#define BURST 3000

struct life {
	struct scheduler *s;
	uint64_t now;
	uint64_t packets[FLOWS];
};

static struct scheduler *scheduler_make(void) {
	static const uint32_t lists[] = {0, 1};
	static const struct scheduler_channel channels[] = {{.rate = CHANNEL_RATE},
							    {.rate = 10 * CHANNEL_RATE}};
	static const struct scheduler_group groups[] = {{&lists[0], 1}, {&lists[1], 1}};
	static const struct scheduler_modem modems[] = {{{0, 0}}, {{FLOW_RATE, BURST}}};
	struct scheduler_flow flows[FLOWS];
	const struct scheduler_config c = {channels, 2,	    groups, 2,	   modems, 2,
					   flows,    FLOWS, 0,	    20000, 1};
	struct scheduler *s;

	for (uint32_t i = 0; i < FLOWS; i++)
		flows[i] = (struct scheduler_flow){
			.group = i > FLOOD,
			.modem = i == AGGREGATE,
			.weight = 1,
			.min_buffer = 60 * LENGTH,
			.buffer = 60 * LENGTH,
			.max_buffer = 60 * LENGTH,
		};
	flows[RESERVED_FLOW].reserved = FLOW_RATE;
	flows[FLOOD].priority = 7;
	flows[SUSTAINED].sustained = (struct scheduler_limit){FLOW_RATE, BURST};
	flows[PEAK].peak = FLOW_RATE;
	flows[PIE].sustained = flows[WRED_FLOW].sustained = flows[SUSTAINED].sustained;
	flows[PIE].aqm = SCHEDULER_DOCSIS_PIE;
	flows[PIE].latency_target = 2 * MS;
	flows[WRED_FLOW].aqm = SCHEDULER_WRED;
	flows[WRED_FLOW].wred = (struct scheduler_wred){5 * LENGTH, 50 * LENGTH, 6554, 4};
	s = scheduler_create(&c, NULL);
	assert_non_null(s);
	return s;
}

static void life_end(struct life *l) {
	while (scheduler_drain(l->s, (void *[1]){0}, 1) > 0)
		;
	scheduler_free(l->s);
}

/* Fills the queues, or has what it tells tried in both alike, and takes out what may go. */
static unsigned life_step(struct life *l, uint32_t tries, struct scheduler_grant *grants,
			  unsigned n) {
	unsigned got;

	for (uint32_t i = 0; i < tries * FLOWS; i++) {
		struct scheduler_arrival in = {NULL, i % FLOWS, LENGTH};
		enum scheduler_verdict verdict;

		scheduler_enqueue(l->s, l->now, &in, 1, &verdict);
	}
	got = scheduler_dequeue(l->s, l->now, grants, n);
	for (unsigned i = 0; i < got; i++)
		l->packets[grants[i].flow]++;
	return got;
}

static void expect_bytes(const struct life *l, uint32_t flow, uint64_t low, uint64_t high) {
	uint64_t bytes = l->packets[flow] * LENGTH;

	if (bytes < low || bytes > high)
		fail_msg("time %llu, flow %u: %llu bytes, not %llu to %llu",
			 (unsigned long long)l->now, flow, (unsigned long long)bytes,
			 (unsigned long long)low, (unsigned long long)high);
}

/* Rates are kept from now on, for `steps`, and buckets were full. */
static void expect_rates(struct life *l, unsigned steps) {
	const uint64_t time = (uint64_t)steps * STEP_NS, due = FLOW_RATE * time / (8000 * MS);
	const uint64_t whole = CHANNEL_RATE * time / (8000 * MS);
	struct scheduler_grant grants[256];

	memset(l->packets, 0, sizeof(l->packets));
	for (unsigned i = 0; i <= steps; i++) {
		while (life_step(l, 16, grants, 256) == 256)
			;
		assert_true(scheduler_next(l->s) <= l->now + 2 * MS);
		l->now += STEP_NS;
	}
	l->packets[FLOOD] += l->packets[RESERVED_FLOW];
	expect_bytes(l, FLOOD, whole, whole + 10 * LENGTH);
	/* 10 ms may be saved up, of 12,500 bytes */
	expect_bytes(l, RESERVED_FLOW, due, due + 12500 + 2 * LENGTH);
	expect_bytes(l, SUSTAINED, due + BURST - LENGTH, due + BURST);
	expect_bytes(l, AGGREGATE, due + BURST - LENGTH, due + BURST);
	expect_bytes(l, PEAK, due + SCHEDULER_PEAK_BURST - LENGTH, due + SCHEDULER_PEAK_BURST);
	expect_bytes(l, PIE, due + BURST - LENGTH, due + BURST);
	expect_bytes(l, WRED_FLOW, due + BURST - LENGTH, due + BURST);
}

TEST(years_of_jumps) {
	static const struct {
		uint64_t jump;
		unsigned steps;
	} cases[] = {{HOUR, 4}, {DAY, 40}, {400 * DAY, 400}};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const uint64_t begin = 123456789, end = begin + 3652 * DAY;
		struct life l = {.s = scheduler_make(), .now = begin};

		for (; l.now < end; l.now += cases[i].jump)
			expect_rates(&l, cases[i].steps);
		life_end(&l);
	}
}

/* Time passes, of which every jump counts; something waits meanwhile. */
static void bring(struct life *l, uint64_t to) {
	struct scheduler_grant grants[512];

	while (l->now < to) {
		l->now = to - l->now > HOUR ? l->now + HOUR : to;
		while (scheduler_dequeue(l->s, l->now, grants, 512) > 0)
			;
	}
}

/* Both fill their queues, and one is at `at` when the other is long before any end of something. */
static void expect_alike(struct life *near, struct life *far, uint64_t at, bool quiet) {
	/* whole slots of the wheel, intervals of PIE and units of delays lie between them */
	const uint64_t between = at / 4096000000 * 4096000000 - 10 * 4096000000;
	struct random r = {at | 1};
	uint64_t promised = 0;

	bring(far, at - BEFORE);
	bring(near, at - BEFORE - between);
	while (far->now < at + BEFORE) {
		struct scheduler_grant a[512], b[512];
		uint32_t tries = random_below(&r, 4);
		bool pause = quiet && far->now + 50 * MS > at && far->now < at + 3 * MS;
		unsigned n = life_step(near, pause ? 0 : tries, a, 512),
			 m = life_step(far, pause ? 0 : tries, b, 512);

		assert_int_equal(n, m);
		for (unsigned i = 0; i < n; i++) {
			assert_int_equal(a[i].flow, b[i].flow);
			assert_int_equal(a[i].sequence, b[i].sequence);
		}
		if (m > 0 && pause)
			assert_true(promised <= far->now);
		promised = scheduler_next(far->s);
		near->now += STEP_NS;
		far->now += STEP_NS;
	}
	for (uint32_t i = 0; i < FLOWS; i++) {
		struct scheduler_flow_report a, b;

		scheduler_report_flow(near->s, i, &a);
		scheduler_report_flow(far->s, i, &b);
		assert_memory_equal(&a, &b, sizeof(a));
		assert_true(a.packets > 0);
		assert_true(i != PIE || a.drops[SCHEDULER_PIE_DROP] > 0);
		assert_true(i != WRED_FLOW || a.drops[SCHEDULER_WRED_DROP] > 0);
	}
}

static void across(uint64_t first, uint64_t period, unsigned times) {
	for (unsigned i = 0; i < 2 * times; i++) {
		struct life near = {.s = scheduler_make()}, far = {.s = scheduler_make()};
		struct scheduler_grant g;

		scheduler_dequeue(near.s, 0, &g, 1); /* their clocks begin at 0 */
		scheduler_dequeue(far.s, 0, &g, 1);
		expect_alike(&near, &far, first + i / 2 * period, i % 2 > 0);
		life_end(&near);
		life_end(&far);
	}
}

TEST(ends_of_turns_and_of_ticks) {
	const uint64_t turn = WHEEL_TURN / TICKS_PER_NS;

	across(turn, turn, 3);
	across(64 * turn / 8, turn, 1);
	across(REBASE_AT / TICKS_PER_NS, REBASE_BY / TICKS_PER_NS, 2);
}
