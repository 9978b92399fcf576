/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: the state that WRED and DOCSIS-PIE keep from packet to packet: averages, steps, bursts. */
#include "test_main.h"

#include "scheduler/aqm.h"
#include "scheduler/internal.h"
#include "scheduler_kit.h"

#define LENGTH 1000

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

/* The average decays from when the queue became empty, not from its last arrival. */
TEST(wred_decays_from_when_it_is_empty) {
	const struct scheduler_flow f = {
		.aqm = SCHEDULER_WRED,
		.wred = {.min_threshold = 100000, .max_threshold = 200000, .weight = 2},
	};
	struct aqm_state a;
	struct aqm_queue q = {.bytes = 8000};
	uint64_t random = 1;
	int64_t emptied;

	aqm_set(&a, &f, true, 0);
	wred_drops(&a.wred, &q, 0, &random);
	assert_float_equal(a.wred.average, 2000, 1e-6);
	emptied = (int64_t)(100 * a.wred.idle_ticks);
	wred_empty(&a.wred, emptied);
	q.bytes = 0;
	wred_drops(&a.wred, &q, emptied + (int64_t)a.wred.idle_ticks, &random);
	assert_float_equal(a.wred.average, 2000 * 0.75 * 0.75, 1e-3);
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

/* An empty queue does not bring it to life. */
TEST(pie_sleeps_until_the_queue_is_long) {
	struct aqm_state a = pie_make();
	const struct aqm_queue empty = {0}, third = {.bytes = 30000};
	uint64_t random = 1;

	for (uint64_t ms = 0; ms < 100; ms++)
		assert_false(pie_drops(&a.pie, &empty, 1024, NS_TICKS(ms * KIT_MS), &random));
	assert_int_equal(a.pie.state, PIE_INACTIVE);
	assert_false(pie_drops(&a.pie, &third, 1024, NS_TICKS(100 * KIT_MS), &random));
	assert_int_equal(a.pie.state, PIE_QUIESCENT);
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
	struct kit k = kit_one_flow(f, KIT_BPS(100), 100);
	struct pie_state before;

	kit_run(&k, KIT_MS);
	assert_int_equal(kit_put(&k, 0, LENGTH), SCHEDULER_QUEUED);
	before = k.s->aqm[0].pie;
	assert_int_equal(kit_take(&k, 2), 1);
	assert_memory_equal(&k.s->aqm[0].pie, &before, sizeof(before));
	kit_end(&k);
}

/* Twice the rate comes: the queue passes a third of the buffer, a packet is dropped, then none for a burst. */
TEST(pie_grants_a_burst_at_its_first_drop) {
	const uint64_t burst = 142 * KIT_MS, interval = 16 * KIT_MS;
	const struct scheduler_flow f = {.sustained = kit_limit(KIT_BPS(10)),
					 .aqm = SCHEDULER_DOCSIS_PIE,
					 .latency_target = 10 * KIT_MS,
					 .min_buffer = 1000000,
					 .buffer = 1000000,
					 .max_buffer = 1000000};
	struct kit k = kit_one_flow(f, KIT_BPS(100), 200000);
	uint64_t drops[2];

	for (unsigned i = 0; i < 2; i++) {
		struct scheduler_flow_report report;

		while (kit_put(&k, 0, LENGTH) == SCHEDULER_QUEUED) {
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
