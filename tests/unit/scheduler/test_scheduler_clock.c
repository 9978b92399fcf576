/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Scheduler: clocks that begin anywhere, jump, go back and end; rates and bursts at the ends of
 * theirs.
 */
#include "test.h"

#include <stdlib.h>

#include "scheduler_rig.h"

#define STEPS 3000
#define PACKET 1000
#define MAX_GRANTS 20000

struct run {
	struct scheduler_grant grants[MAX_GRANTS];
	unsigned at_step[STEPS]; /* grants until then */
	unsigned count;
};

static const uint32_t two[] = {0, 1};
static const struct scheduler_channel channels[] = {{.rate = RIG_BPS(400)}, {.rate = RIG_BPS(90)}};
static const struct scheduler_group groups[] = {{two, 2}, {two + 1, 1}};
static const struct scheduler_modem modems[] = {{{0, 0}}, {{RIG_BPS(100), 20000}}};
static const struct scheduler_flow flows[] = {
	{.group = 0,
	 .weight = 1,
	 .sustained = {RIG_BPS(200), 30000},
	 .peak = RIG_BPS(300),
	 .min_buffer = 20000,
	 .buffer = 20000,
	 .max_buffer = 20000},
	{.group = 1,
	 .modem = 1,
	 .weight = 1,
	 .priority = 3,
	 .reserved = RIG_BPS(5),
	 .max_buffer = 100000},
	{.group = 0, .modem = 1, .weight = 3, .max_buffer = 30000},
};
static const struct scheduler_config config = {
	.channels = channels,
	.channel_count = ARRAY_COUNT(channels),
	.groups = groups,
	.group_count = ARRAY_COUNT(groups),
	.modems = modems,
	.modem_count = ARRAY_COUNT(modems),
	.flows = flows,
	.flow_count = ARRAY_COUNT(flows),
	.packet_limit = 300,
};

/* Arrivals and departures at each of these times; packets are numbered. */
static struct run *run_at(const uint64_t *times) {
	struct scheduler *s = scheduler_create(&config, NULL);
	struct run *run = calloc(1, sizeof(*run));
	struct random random = {4711};
	uintptr_t number = 1;
	void *left[300];

	assert_true(s != NULL && run != NULL);
	for (int i = 0; i < STEPS; i++) {
		for (uint32_t k = random_below(&random, 4); k > 0; k--) {
			const struct scheduler_arrival in = {(void *)number++,
							     random_below(&random, 3),
							     random_between(&random, 64, 1518)};
			enum scheduler_verdict verdict;

			scheduler_enqueue(s, times[i], &in, 1, &verdict);
		}
		run->count += scheduler_dequeue(s, times[i], run->grants + run->count,
						MAX_GRANTS - run->count);
		run->at_step[i] = run->count;
	}
	scheduler_drain(s, left, ARRAY_COUNT(left));
	scheduler_free(s);
	return run;
}

static void expect_same_runs(const uint64_t *a, const uint64_t *b) {
	struct run *one = run_at(a), *other = run_at(b);

	assert_true(one->count > STEPS / 2);
	assert_int_equal(one->count, other->count);
	assert_memory_equal(one->at_step, other->at_step, sizeof(one->at_step));
	for (unsigned i = 0; i < one->count; i++) {
		assert_ptr_equal(one->grants[i].packet, other->grants[i].packet);
		assert_int_equal(one->grants[i].channel, other->grants[i].channel);
		assert_int_equal(one->grants[i].sequence, other->grants[i].sequence);
	}
	free(one);
	free(other);
}

/* The times of a clock that is read at random moments. */
static void make_times(uint64_t *times, uint64_t epoch) {
	struct random random = {99};
	uint64_t now = epoch;

	for (int i = 0; i < STEPS; i++) {
		times[i] = now;
		now += random_below(&random, 50000);
	}
}

/* Only differences of times matter, wherever they begin. */
static void any_epoch(void **state) {
	static const uint64_t epochs[] = {1,
					  1000000007,
					  UINT64_C(1) << 62,
					  (UINT64_C(1) << 63) - 20 * RIG_MS,
					  (UINT64_C(1) << 63) + 1,
					  UINT64_MAX - RIG_S};
	uint64_t times[STEPS], moved[STEPS];

	(void)state;
	make_times(times, 0);
	for (size_t i = 0; i < ARRAY_COUNT(epochs); i++) {
		make_times(moved, epochs[i]);
		expect_same_runs(times, moved);
	}
}

/* A clock that goes back is one that stands still until it has caught up. */
static void clock_that_goes_back(void **state) {
	uint64_t times[STEPS], latest[STEPS], furthest = 0;
	struct random random = {5};

	(void)state;
	make_times(times, 7 * RIG_S);
	for (int i = 0; i < STEPS; i++) {
		if (i > 0 && random_below(&random, 5) == 0)
			times[i] = random_below(&random, 3) == 0
					   ? 0
					   : times[i] - random_below(&random, 400000);
		furthest = times[i] > furthest ? times[i] : furthest;
		latest[i] = furthest;
	}
	expect_same_runs(times, latest);
}

static struct rig limited(void) {
	struct rig r = rig_make();

	rig_channel(&r, RIG_BPS(1000));
	rig_group_range(&r, 0, 1);
	rig_modem(&r, 0, 0);
	rig_flow(&r, (struct scheduler_flow){.sustained = {RIG_BPS(10), 50 * PACKET}});
	rig_flow(&r, (struct scheduler_flow){.group = 0});
	rig_start(&r);
	return r;
}

/* After any rest there is one full burst, and the channel's lead once; the rig allows no more. */
static void jumps_forward(void **state) {
	static const uint64_t jumps[] = {
		0, 1, 50 * RIG_MS, RIG_S, 3600 * RIG_S, 30 * 86400 * RIG_S};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(jumps); i++) {
		struct rig r = limited();
		const uint64_t lead = SCHEDULER_LEAD_NS / 8;

		rig_feed_always(&r, 0, PACKET, PACKET);
		rig_run(&r, 100 * RIG_MS);
		rig_feed_always(&r, 1, PACKET, PACKET);
		rig_run(&r, 10 * RIG_MS);
		r.now += jumps[i];
		rig_mark(&r);
		for (int k = 0; k < 10; k++)
			rig_send(&r);
		if (jumps[i] >= 50 * RIG_MS) {
			uint64_t bytes = r.flows[0].bytes + r.flows[1].bytes;

			assert_in_range(bytes, lead, lead + PACKET);
			rig_run(&r, 3 * RIG_MS);
			assert_in_range(r.flows[0].bytes, 50 * PACKET,
					50 * PACKET + 1250 * 3 + PACKET);
		}
		rig_end(&r);
	}
}

/* Jumps to the end of time: everything goes, nothing goes twice, nothing hangs. */
static void end_of_time(void **state) {
	static const uint64_t ends[] = {UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63, INT64_MAX,
					UINT64_C(1) << 62};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(ends); i++) {
		struct scheduler *s = scheduler_create(&config, NULL);
		struct scheduler_grant grants[64];
		enum scheduler_verdict verdict;
		uintptr_t got = 0;

		assert_non_null(s);
		scheduler_dequeue(s, 0, grants, 64);
		for (uintptr_t p = 1; p <= 30; p++) {
			const struct scheduler_arrival in = {(void *)p, 1, PACKET};

			assert_int_equal(scheduler_enqueue(s, p, &in, 1, &verdict), 1);
		}
		got = scheduler_dequeue(s, 40, grants, 64);
		assert_true(got > 0 && got < 30);
		got += scheduler_dequeue(s, ends[i], grants, 64);
		assert_true(got <= 30);
		for (int k = 0; k < 10; k++)
			got += scheduler_dequeue(s, ends[i], grants, 64);
		for (int k = 0; k < 10; k++)
			got += scheduler_dequeue(s, UINT64_MAX, grants, 64);
		assert_int_equal(scheduler_held(s), 30 - got);
		got += scheduler_drain_flow(s, 1, (void *[30]){0}, 30);
		assert_int_equal(got, 30);
		scheduler_free(s);
	}
}

/* The ends of what is allowed work: one packet goes at once, whatever the rates. */
static void extreme_settings_work(void **state) {
	static const uint64_t rates[] = {SCHEDULER_RATE_MIN, SCHEDULER_RATE_MAX};
	static const uint64_t bursts[] = {PACKET, UINT32_MAX, UINT64_MAX};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(rates) * ARRAY_COUNT(bursts); i++) {
		struct rig r = rig_make();
		uint64_t rate = rates[i % 2], burst = bursts[i / 2];
		uint32_t modem = rig_modem(&r, rate, burst);

		rig_channel(&r, rate);
		rig_group_range(&r, 0, 1);
		rig_flow(&r, (struct scheduler_flow){.modem = modem,
						     .sustained = {rate, burst},
						     .peak = rate,
						     .reserved = rate,
						     .reserved_packet = UINT16_MAX});
		r.config.rate_limit = rate;
		r.config.packet_limit = 10;
		rig_start(&r);
		for (int k = 0; k < 3; k++)
			assert_int_equal(rig_put(&r, 0, PACKET), SCHEDULER_QUEUED);
		rig_run(&r, 10 * RIG_STEP_NS);
		assert_true(r.flows[0].packets >= 1);
		r.now += 60 * RIG_S;
		rig_send(&r);
		r.now += 60 * RIG_S;
		rig_send(&r);
		assert_int_equal(r.inside, 0);
		rig_end(&r);
	}
}

/* Rate 0 is no limit, and no reserve: the flow has the channel. */
static void zero_rates_are_none(void **state) {
	struct rig r = rig_make();

	(void)state;
	rig_channel(&r, RIG_BPS(1000));
	rig_group_range(&r, 0, 1);
	rig_modem(&r, 0, 5);
	rig_flow(&r, (struct scheduler_flow){.sustained = {0, 5}, .reserved_packet = 9000});
	rig_start(&r);
	rig_feed_always(&r, 0, 64, 1518);
	rig_run(&r, 100 * RIG_MS);
	rig_expect_filled(&r, 0, 1);
	rig_end(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_epoch),
		cmocka_unit_test(clock_that_goes_back),
		cmocka_unit_test(jumps_forward),
		cmocka_unit_test(end_of_time),
		cmocka_unit_test(extreme_settings_work),
		cmocka_unit_test(zero_rates_are_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
