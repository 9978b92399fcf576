/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests WRED and DOCSIS-PIE against their formulas, and the state that they keep. */
#include "test_main.h"

#include <math.h>

#include "scheduler/internal.h"
#include "scheduler_kit.h"

#define PACKET 1000

static struct kit start_with_flow(struct scheduler_flow f, uint64_t seed) {
	struct kit k = kit_init();

	kit_add_channel(&k, KIT_MBPS(100));
	kit_add_group_range(&k, 0, 1);
	kit_add_flow(&k, f);
	k.config.packet_limit = 2000;
	k.config.seed = seed;
	kit_start(&k);
	return k;
}

/* Thresholds are in packets. */
static struct scheduler_flow wred_flow(uint32_t min, uint32_t max, uint8_t weight) {
	return (struct scheduler_flow){
		.aqm = SCHEDULER_WRED,
		.wred = {min * PACKET, max * PACKET, 6554, weight},
	};
}

/* Checks the average: it moves at each arrival. In an empty queue it falls as if packets of 1,000
 * bytes arrived at the sustained rate. Checks drops at the thresholds. */
static void check_average(uint8_t weight, uint64_t rate) {
	const double fraction = ldexp(1, -weight),
		     packet_ns = 8e12 / (rate > 0 ? (double)rate : 1e9);
	struct scheduler_flow f = wred_flow(20, 30, weight);
	struct kit k;
	double average = 0;
	uint64_t empty_at = 0;

	f.sustained = (struct scheduler_limit){rate, 100000000};
	k = start_with_flow(f, 1);
	for (size_t i = 0; i < 5000; i++) {
		const bool pause = random_below(&k.random, 100) == 0;
		enum scheduler_verdict verdict;

		if (k.queued == 0) {
			average *= pow(1 - fraction, (double)(k.now - empty_at) / packet_ns);
			empty_at = k.now;
		}
		average += ((double)k.queued * PACKET - average) * fraction;
		verdict = kit_enqueue(&k, 0, PACKET);
		kit_check_near("average at arrival", i, k.s->aqm[0].wred.average, average, 1e-4);
		assert_true(verdict == SCHEDULER_WRED_DROP ? average >= 20 * PACKET
							   : average < 30 * PACKET);
		for (bool all = pause || k.queued > random_below(&k.random, 70);
		     all && k.queued > 0; all = pause) {
			k.now += random_below(&k.random, 160000);
			if (kit_dequeue(&k, 1) > 0)
				empty_at = k.now;
		}
		k.now += pause ? random_below(&k.random, (uint32_t)(5 * packet_ns)) : 0;
	}
	assert_true(k.flows[0].verdicts[SCHEDULER_WRED_DROP] > 10 || weight > 10);
	kit_close(&k);
}

TEST(wred_average_follows_its_definition) {
	for (uint8_t weight = 1; weight <= 12; weight++) {
		check_average(weight, 0);
		check_average(weight, KIT_MBPS(8));
		check_average(weight, KIT_MBPS(800));
	}
}

/* At a constant queue size, checks the part of the arrivals that is dropped, and the longest gap.
 * Drops are spread by the count since the last one, so gaps are uniform from 1 to 1/p, and p * 2 /
 * (1 + p) are dropped. p is at most 0.1. */
TEST(wred_probability_is_linear) {
	static const struct {
		uint32_t packets;
		double p;
	} cases[] = {{120, 0.01}, {150, 0.025}, {200, 0.05}, {250, 0.075}, {290, 0.095}};
	const struct scheduler_flow f = wred_flow(100, 300, 4);
	const unsigned arrivals = 400000;

	for (size_t n = 0; n < ARRAY_COUNT(cases); n++) {
		const struct aqm_queue q = {.bytes = cases[n].packets * PACKET};
		const double p = cases[n].p;
		unsigned drops = 0, gap = 0, longest = 0;
		uint64_t random = 1;
		struct aqm_state a;

		aqm_set(&a, &f, true, 0);
		a.wred.average = q.bytes;
		for (unsigned i = 0; i < arrivals; i++) {
			gap++;
			if (!wred_drops(&a.wred, &q, 0, &random))
				continue;
			drops++;
			longest = gap > longest ? gap : longest;
			gap = 0;
		}
		kit_check_near("drops of case", n, drops, arrivals * 2 * p / (1 + p), 0.03);
		assert_true(longest < 1 / p + 2);
	}
}

/* WRED draws from xorshift64 with the shifts 12, 25 and 27 (Marsaglia 2003; Vigna 2016). */
TEST(wred_draws_from_xorshift64) {
	/* halfway between the thresholds, which does not change */
	struct wred_state w = {.average = 1500,
			       .min_threshold = 1000,
			       .max_threshold = 2000,
			       .slope = 0.001,
			       .idle_ticks = 1};
	const struct aqm_queue q = {.bytes = 1500};
	uint64_t random = 1;

	wred_drops(&w, &q, 0, &random);
	assert_true(random == 0x2000001);
	wred_drops(&w, &q, 0, &random);
	assert_true(random == 0x4004000802801);
	for (unsigned i = 2; i < 1000; i++)
		wred_drops(&w, &q, 0, &random);
	assert_true(random == 0x8440ebfe83528394);
}

#define STEP_NS 400000 /* per arriving packet: twice the rate of the flow */
#define AROUND (600 * KIT_MS)

static struct scheduler_flow congested(enum scheduler_aqm kind) {
	struct scheduler_flow f = wred_flow(5, 50, 4);

	f.sustained = (struct scheduler_limit){KIT_MBPS(10), 3000};
	f.min_buffer = f.buffer = f.max_buffer = 60 * PACKET;
	f.latency_target = 2 * KIT_MS;
	f.aqm = kind;
	return f;
}

/* Per step, a packet arrives and one may leave. Returns a hash of the verdicts. */
static uint32_t congest(struct kit *k, uint64_t until) {
	uint32_t verdicts = 0;

	for (; k->now < until; k->now += STEP_NS) {
		verdicts = verdicts * 31 + kit_enqueue(k, 0, PACKET);
		kit_dequeue(k, 1);
	}
	return verdicts;
}

/* Returns a hash of the drops before and after `at`, when the queue is empty. Hours pass before. */
static uint32_t hash_drops_around(enum scheduler_aqm kind, uint64_t at, uint64_t seed) {
	struct kit k = start_with_flow(congested(kind), seed);
	uint32_t before, after;

	for (kit_dequeue(&k, 1); k.now < at - AROUND; kit_dequeue(&k, 1))
		k.now += at - AROUND - k.now < 3600 * KIT_S ? at - AROUND - k.now : 3600 * KIT_S;
	before = congest(&k, at - 40 * KIT_MS);
	for (; k.now < at + 4 * KIT_MS; k.now += STEP_NS)
		kit_dequeue(&k, 4);
	after = congest(&k, at + AROUND);
	assert_true(k.flows[0].verdicts[kind == SCHEDULER_WRED ? SCHEDULER_WRED_DROP
							       : SCHEDULER_PIE_DROP] > 10);
	kit_close(&k);
	return before * 31 + after;
}

/* The same seed has the same drops, also when ticks are rebased. Another seed has others. */
TEST(drops_depend_on_seed) {
	const uint64_t unit = 4096 * KIT_MS; /* whole intervals of PIE and units of delays */
	const uint64_t near = 10 * unit, far = REBASE_AT / TICKS_PER_NS / unit * unit;

	for (enum scheduler_aqm kind = SCHEDULER_WRED; kind <= SCHEDULER_DOCSIS_PIE; kind++) {
		assert_int_equal(hash_drops_around(kind, near, 77),
				 hash_drops_around(kind, far, 77));
		assert_int_not_equal(hash_drops_around(kind, near, 77),
				     hash_drops_around(kind, near, 78));
	}
}

/* A new flow in a slot, and a flow with a new AQM, inherit no congestion state. */
TEST(new_flow_has_no_congestion_state) {
	static const struct scheduler_flow no_flow = {.group = SCHEDULER_NONE};

	for (unsigned i = 0; i < 4; i++) {
		const enum scheduler_aqm kind = i % 2 ? SCHEDULER_WRED : SCHEDULER_DOCSIS_PIE;
		const enum scheduler_aqm other = i % 2 ? SCHEDULER_DOCSIS_PIE : SCHEDULER_WRED;
		struct scheduler_flow f = congested(i < 2 ? kind : other);
		struct kit k = start_with_flow(congested(kind), 1);
		struct scheduler_flow_report r;

		f.weight = 1;
		congest(&k, KIT_S);
		scheduler_report_flow(k.s, 0, &r);
		assert_true(r.drops[SCHEDULER_WRED_DROP] + r.drops[SCHEDULER_PIE_DROP] > 10);
		scheduler_drain_flow(k.s, 0, (void *[100]){0}, 100);
		if (i < 2)
			assert_null(scheduler_set_flow(k.s, 0, &no_flow));
		assert_null(scheduler_set_flow(k.s, 0, &f));
		scheduler_report_flow(k.s, 0, &r);
		assert_int_equal(r.drop_probability, 0);
		for (int v = SCHEDULER_QUEUED; v < SCHEDULER_VERDICTS; v++)
			assert_true(r.drops[v] == 0 || i >= 2);
		for (unsigned n = 0; n < 3; n++)
			assert_int_equal(kit_enqueue(&k, 0, PACKET), SCHEDULER_QUEUED);
		kit_free(&k);
	}
}

static struct aqm_state make_pie(void) {
	const struct scheduler_flow f = {
		.aqm = SCHEDULER_DOCSIS_PIE,
		.buffer = 90000,
		.latency_target = 10 * KIT_MS,
	};
	struct aqm_state a;

	aqm_set(&a, &f, true, 0);
	return a;
}

/* RFC 8034, 4.4: a burst is allowed once, when congestion begins, and not while it lasts. */
TEST(pie_allows_a_burst_once) {
	struct aqm_state a = make_pie();
	const struct aqm_queue q = {.bytes = 80000, .head_age = NS_TICKS(50 * KIT_MS)};
	uint64_t random = 1, begun = 0;
	unsigned drops = 0;

	for (uint64_t ms = 0; ms < 20000; ms++) {
		bool active = a.pie.state == PIE_ACTIVE;

		drops += pie_drops(&a.pie, &q, 1024, NS_TICKS(ms * KIT_MS), &random);
		begun += !active && a.pie.state == PIE_ACTIVE;
	}
	assert_int_equal(begun, 1);
	assert_in_range(drops, 1000, 20000);
}

/* RFC 8034, 4.2: the lower the probability, the smaller its steps; 1 ms above the target. */
TEST(pie_steps_scale_with_probability) {
	static const struct {
		double from, divisor; /* lower end of the range */
	} steps[] = {{0, 2048}, {0.000001, 512}, {0.00001, 128}, {0.0001, 32}, {0.001, 8},
		     {0.01, 2}, {0.1, 0.5},	 {1, 0.125},	 {10, 0.03125}};
	const struct aqm_queue q = {.bytes = 80000, .head_age = NS_TICKS(11 * KIT_MS)};
	const uint64_t interval = 16 * KIT_MS;
	uint64_t random = 1;

	for (size_t i = 0; i < ARRAY_COUNT(steps); i++) {
		double last = i + 1 < ARRAY_COUNT(steps) ? 0.999 * steps[i + 1].from : 12;

		for (unsigned end = 0; end < 2; end++) {
			struct aqm_state a = make_pie();
			double before = end == 0 ? steps[i].from : last;

			a.pie.state = PIE_ACTIVE;
			a.pie.burst_allowance = 0;
			a.pie.old_delay = 0.011;
			a.pie.probability = before;
			pie_drops(&a.pie, &q, 1024, NS_TICKS(interval), &random);
			assert_float_equal((a.pie.probability - before) * steps[i].divisor,
					   0.25 * 0.001, 1e-9);
		}
	}
}

/* An empty queue resets the state of WRED, and must not touch that of DOCSIS-PIE. */
TEST(pie_keeps_its_state_in_an_empty_queue) {
	const struct scheduler_flow f = {.aqm = SCHEDULER_DOCSIS_PIE,
					 .latency_target = 10 * KIT_MS};
	struct kit k = start_with_flow(f, 1);
	struct pie_state before;

	kit_run(&k, KIT_MS);
	assert_int_equal(kit_enqueue(&k, 0, PACKET), SCHEDULER_QUEUED);
	before = k.s->aqm[0].pie;
	assert_int_equal(kit_dequeue(&k, 2), 1);
	assert_memory_equal(&k.s->aqm[0].pie, &before, sizeof(before));
	kit_close(&k);
}

/* At twice the rate, a packet is dropped at a third of the buffer; then none for a burst. */
TEST(pie_allows_burst_after_first_drop) {
	const uint64_t burst = 142 * KIT_MS, interval = 16 * KIT_MS;
	const struct scheduler_flow f = {.sustained = {KIT_MBPS(10), 12500},
					 .aqm = SCHEDULER_DOCSIS_PIE,
					 .latency_target = 10 * KIT_MS,
					 .min_buffer = 1000000,
					 .buffer = 1000000,
					 .max_buffer = 1000000};
	struct kit k = start_with_flow(f, 1);
	uint64_t drops[2];

	for (unsigned i = 0; i < 2; i++) {
		struct scheduler_flow_report report;

		while (kit_enqueue(&k, 0, PACKET) == SCHEDULER_QUEUED) {
			kit_run(&k, 400000); /* 20 Mbps */
			assert_true(k.now < 2 * KIT_S);
		}
		drops[i] = k.now;
		scheduler_report_flow(k.s, 0, &report);
		assert_int_equal(report.drops[SCHEDULER_PIE_DROP], i + 1);
		assert_true(report.waiting_bytes >= f.buffer / 3);
	}
	/* the allowance is counted in intervals, from the next one on */
	assert_in_range(drops[1] - drops[0], burst - interval, burst + 10 * interval);
	kit_close(&k);
}
