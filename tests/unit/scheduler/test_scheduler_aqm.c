/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: WRED and DOCSIS-PIE against their formulas, and what they keep from packet to packet. */
#include "test_main.h"

#include <math.h>

#include "scheduler/internal.h"
#include "scheduler_kit.h"

#define PACKET 1000

static struct kit one_flow(struct scheduler_flow f, uint64_t seed) {
	struct kit k = kit_make();

	kit_channel(&k, KIT_BPS(100));
	kit_group_range(&k, 0, 1);
	kit_flow(&k, f);
	k.config.packet_limit = 2000;
	k.config.seed = seed;
	kit_start(&k);
	return k;
}

/* With thresholds in packets. */
static struct scheduler_flow wred_flow(uint32_t min, uint32_t max, uint8_t weight) {
	return (struct scheduler_flow){
		.aqm = SCHEDULER_WRED,
		.wred = {min * PACKET, max * PACKET, 6554, weight},
	};
}

/* As it is written: it moves at each arrival, and falls in an empty queue as if packets of 1,000 bytes came at the
 * sustained rate. Below its thresholds nothing is dropped, and above them all is. */
static void expect_average(uint8_t weight, uint64_t rate) {
	const double part = ldexp(1, -weight), packet_ns = 8e12 / (rate > 0 ? (double)rate : 1e9);
	struct scheduler_flow f = wred_flow(20, 30, weight);
	struct kit k;
	double average = 0;
	uint64_t empty_at = 0;

	f.sustained = (struct scheduler_limit){rate, 100000000};
	k = one_flow(f, 1);
	for (size_t i = 0; i < 5000; i++) {
		const bool rest = random_below(&k.random, 100) == 0;
		enum scheduler_verdict verdict;

		if (k.inside == 0) {
			average *= pow(1 - part, (double)(k.now - empty_at) / packet_ns);
			empty_at = k.now;
		}
		average += ((double)k.inside * PACKET - average) * part;
		verdict = kit_put(&k, 0, PACKET);
		kit_expect("average at arrival", i, k.s->aqm[0].wred.average, average, 1e-4);
		assert_true(verdict == SCHEDULER_WRED_DROP ? average >= 20 * PACKET
							   : average < 30 * PACKET);
		for (bool all = rest || k.inside > random_below(&k.random, 70); all && k.inside > 0;
		     all = rest) {
			k.now += random_below(&k.random, 160000);
			if (kit_take(&k, 1) > 0)
				empty_at = k.now;
		}
		k.now += rest ? random_below(&k.random, (uint32_t)(5 * packet_ns)) : 0;
	}
	assert_true(k.flows[0].verdicts[SCHEDULER_WRED_DROP] > 10 || weight > 10);
	kit_end(&k);
}

TEST(wred_average_is_as_written) {
	for (uint8_t weight = 1; weight <= 12; weight++) {
		expect_average(weight, 0);
		expect_average(weight, KIT_BPS(8));
		expect_average(weight, KIT_BPS(800));
	}
}

/*
 * A queue that stays as long: what part of the arrivals is dropped, and how far apart? Spread by the count since the
 * last drop, gaps are equally likely from 1 to 1/p: p * 2 / (1 + p) are dropped. The largest probability is 0.1.
 */
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
		kit_expect("drops of case", n, drops, arrivals * 2 * p / (1 + p), 0.03);
		assert_true(longest < 1 / p + 2);
	}
}

/* WRED draws from xorshift64 with the shifts 12, 25 and 27 (Marsaglia 2003; Vigna 2016). */
TEST(random_numbers_are_xorshift) {
	/* halfway between its thresholds, and it stays there */
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

#define STEP_NS 400000 /* in which one packet comes: twice the rate of the flow */
#define AROUND (600 * KIT_MS)

static struct scheduler_flow congested(enum scheduler_aqm kind) {
	struct scheduler_flow f = wred_flow(5, 50, 4);

	f.sustained = (struct scheduler_limit){KIT_BPS(10), 3000};
	f.min_buffer = f.buffer = f.max_buffer = 60 * PACKET;
	f.latency_target = 2 * KIT_MS;
	f.aqm = kind;
	return f;
}

/* One packet a step comes and those go that may, until then. Returns what tells whether the same were dropped. */
static uint32_t congest(struct kit *k, uint64_t until) {
	uint32_t verdicts = 0;

	for (; k->now < until; k->now += STEP_NS) {
		verdicts = verdicts * 31 + kit_put(k, 0, PACKET);
		kit_take(k, 1);
	}
	return verdicts;
}

/* What is dropped around a time, before which the queue runs empty; hours pass until then. */
static uint32_t drops_around(enum scheduler_aqm kind, uint64_t at, uint64_t seed) {
	struct kit k = one_flow(congested(kind), seed);
	uint32_t before, after;

	for (kit_take(&k, 1); k.now < at - AROUND; kit_take(&k, 1))
		k.now += at - AROUND - k.now < 3600 * KIT_S ? at - AROUND - k.now : 3600 * KIT_S;
	before = congest(&k, at - 40 * KIT_MS);
	for (; k.now < at + 4 * KIT_MS; k.now += STEP_NS)
		kit_take(&k, 4);
	after = congest(&k, at + AROUND);
	assert_true(k.flows[0].verdicts[kind == SCHEDULER_WRED ? SCHEDULER_WRED_DROP
							       : SCHEDULER_PIE_DROP] > 10);
	kit_end(&k);
	return before * 31 + after;
}

/* With the same seed the same, also where the ticks go back; with another one others. */
TEST(drops_are_of_the_seed) {
	const uint64_t unit = 4096 * KIT_MS; /* whole intervals of PIE and units of delays */
	const uint64_t near = 10 * unit, far = REBASE_AT / TICKS_PER_NS / unit * unit;

	for (enum scheduler_aqm kind = SCHEDULER_WRED; kind <= SCHEDULER_DOCSIS_PIE; kind++) {
		assert_int_equal(drops_around(kind, near, 77), drops_around(kind, far, 77));
		assert_int_not_equal(drops_around(kind, near, 77), drops_around(kind, near, 78));
	}
}

/* A flow in the slot of another, or with another control, has nothing of what made that one drop. */
TEST(congestion_is_forgotten) {
	static const struct scheduler_flow gone = {.group = SCHEDULER_NONE};

	for (unsigned i = 0; i < 4; i++) {
		const enum scheduler_aqm kind = i % 2 ? SCHEDULER_WRED : SCHEDULER_DOCSIS_PIE;
		const enum scheduler_aqm other = i % 2 ? SCHEDULER_DOCSIS_PIE : SCHEDULER_WRED;
		struct scheduler_flow f = congested(i < 2 ? kind : other);
		struct kit k = one_flow(congested(kind), 1);
		struct scheduler_flow_report r;

		f.weight = 1;
		congest(&k, KIT_S);
		scheduler_report_flow(k.s, 0, &r);
		assert_true(r.drops[SCHEDULER_WRED_DROP] + r.drops[SCHEDULER_PIE_DROP] > 10);
		scheduler_drain_flow(k.s, 0, (void *[100]){0}, 100);
		if (i < 2)
			assert_null(scheduler_set_flow(k.s, 0, &gone));
		assert_null(scheduler_set_flow(k.s, 0, &f));
		scheduler_report_flow(k.s, 0, &r);
		assert_int_equal(r.drop_probability, 0);
		for (int v = SCHEDULER_QUEUED; v < SCHEDULER_VERDICTS; v++)
			assert_true(r.drops[v] == 0 || i >= 2);
		for (unsigned n = 0; n < 3; n++)
			assert_int_equal(kit_put(&k, 0, PACKET), SCHEDULER_QUEUED);
		kit_free(&k);
	}
}

static struct aqm_state pie_make(void) {
	const struct scheduler_flow f = {
		.aqm = SCHEDULER_DOCSIS_PIE,
		.buffer = 90000,
		.latency_target = 10 * KIT_MS,
	};
	struct aqm_state a;

	aqm_set(&a, &f, true, 0);
	return a;
}

/* RFC 8034, 4.4: a burst is allowed once, when congestion begins, and not again while it lasts. */
TEST(pie_allows_a_burst_once) {
	struct aqm_state a = pie_make();
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

/* RFC 8034, 4.2: the lower the probability, the smaller the steps. A millisecond above the target. */
TEST(pie_steps_by_its_probability) {
	static const struct {
		double from, divisor; /* up to where the next one begins */
	} steps[] = {{0, 2048}, {0.000001, 512}, {0.00001, 128}, {0.0001, 32}, {0.001, 8},
		     {0.01, 2}, {0.1, 0.5},	 {1, 0.125},	 {10, 0.03125}};
	const struct aqm_queue q = {.bytes = 80000, .head_age = NS_TICKS(11 * KIT_MS)};
	const uint64_t interval = 16 * KIT_MS;
	uint64_t random = 1;

	for (size_t i = 0; i < ARRAY_COUNT(steps); i++) {
		double last = i + 1 < ARRAY_COUNT(steps) ? 0.999 * steps[i + 1].from : 12;

		for (unsigned end = 0; end < 2; end++) {
			struct aqm_state a = pie_make();
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

/* What begins when a queue of WRED is empty does not touch what DOCSIS-PIE knows. */
TEST(pie_keeps_its_state_in_an_empty_queue) {
	const struct scheduler_flow f = {.aqm = SCHEDULER_DOCSIS_PIE,
					 .latency_target = 10 * KIT_MS};
	struct kit k = one_flow(f, 1);
	struct pie_state before;

	kit_run(&k, KIT_MS);
	assert_int_equal(kit_put(&k, 0, PACKET), SCHEDULER_QUEUED);
	before = k.s->aqm[0].pie;
	assert_int_equal(kit_take(&k, 2), 1);
	assert_memory_equal(&k.s->aqm[0].pie, &before, sizeof(before));
	kit_end(&k);
}

/* Twice the rate comes: the queue passes a third of the buffer, a packet is dropped, then none for a burst. */
TEST(pie_grants_a_burst_at_its_first_drop) {
	const uint64_t burst = 142 * KIT_MS, interval = 16 * KIT_MS;
	const struct scheduler_flow f = {.sustained = {KIT_BPS(10), 12500},
					 .aqm = SCHEDULER_DOCSIS_PIE,
					 .latency_target = 10 * KIT_MS,
					 .min_buffer = 1000000,
					 .buffer = 1000000,
					 .max_buffer = 1000000};
	struct kit k = one_flow(f, 1);
	uint64_t drops[2];

	for (unsigned i = 0; i < 2; i++) {
		struct scheduler_flow_report report;

		while (kit_put(&k, 0, PACKET) == SCHEDULER_QUEUED) {
			kit_run(&k, 400000); /* 20 Mbps */
			assert_true(k.now < 2 * KIT_S);
		}
		drops[i] = k.now;
		scheduler_report_flow(k.s, 0, &report);
		assert_int_equal(report.drops[SCHEDULER_PIE_DROP], i + 1);
		assert_true(report.waiting_bytes >= f.buffer / 3);
	}
	/* the allowance is reckoned at every interval: from the next one on, and to the end of one */
	assert_in_range(drops[1] - drops[0], burst - interval, burst + 10 * interval);
	kit_end(&k);
}
