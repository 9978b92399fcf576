/* SPDX-License-Identifier: BSD-3-Clause */
/* Scheduler: shares of the flows of a modem and of a class; packets and DEPI overheads that are refused. */
#include "test.h"

#include "scheduler_rig.h"

#define LOWER_PARTS 193 /* of which columns below others get one */

/* Two backlogged flows of one modem with an aggregate limit; their bytes in a second. */
static void share_of_a_modem(const struct scheduler_flow flows[2], const uint32_t sizes[2],
			     uint64_t bytes[2]) {
	struct rig r = rig_make();
	uint32_t modem = rig_modem(&r, RIG_BPS(50), 4000);

	rig_channel(&r, RIG_BPS(1000));
	rig_channel(&r, RIG_BPS(1000));
	rig_group_range(&r, 0, 1);
	rig_group_range(&r, 1, 1);
	for (int i = 0; i < 2; i++) {
		struct scheduler_flow f = flows[i];

		f.modem = modem;
		rig_flow(&r, f);
	}
	rig_start(&r);
	for (uint32_t i = 0; i < 2; i++)
		rig_feed_always(&r, i, sizes[i], sizes[i]);
	rig_run(&r, 10 * RIG_MS);
	rig_mark(&r);
	rig_run(&r, RIG_S);
	for (uint32_t i = 0; i < 2; i++)
		bytes[i] = r.flows[i].bytes;
	rig_expect("modem", modem, (double)(bytes[0] + bytes[1]), 50e6 / 8, 0.02);
	rig_end(&r);
}

static void groups_share_a_modems_limit(void **state) {
	static const uint32_t sizes[2] = {1500, 1500};
	const struct scheduler_flow flows[2] = {{.group = 0}, {.group = 1}};
	uint64_t bytes[2];

	(void)state;
	share_of_a_modem(flows, sizes, bytes);
	rig_expect("bytes of a group", 0, (double)bytes[0], (double)bytes[1], 0.05);
}

static void priorities_share_a_modems_limit(void **state) {
	static const uint32_t sizes[][2] = {{1500, 1500}, {64, 1500}, {1500, 64}};
	const struct scheduler_flow flows[2] = {{.priority = 7}, {.priority = 0}};
	uint64_t bytes[2];

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		share_of_a_modem(flows, sizes[i], bytes);
		assert_true(bytes[0] > 50 * bytes[1]);
		assert_true(bytes[1] > 0);
	}
}

static void short_and_long_packets_share_a_modems_limit(void **state) {
	static const uint32_t sizes[2] = {64, 1500};
	const struct scheduler_flow together[2] = {{.group = 0}, {.group = 0}};
	const struct scheduler_flow apart[2] = {{.group = 0}, {.group = 1}};
	uint64_t bytes[2];

	(void)state;
	share_of_a_modem(together, sizes, bytes);
	rig_expect("bytes of short packets", 0, (double)bytes[0], (double)bytes[1], 0.05);
	share_of_a_modem(apart, sizes, bytes);
	assert_true(bytes[0] / 64 * 2 > bytes[1] / 1500);
	assert_true(bytes[1] / 1500 * 2 > bytes[0] / 64 / 10);
}

static void lower_priorities_share_in_bytes(void **state) {
	static const uint32_t sizes[] = {64, 500, 1500};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
		for (size_t k = 0; k < ARRAY_COUNT(sizes); k++) {
			struct rig r = rig_make();
			double lower;

			rig_channel(&r, RIG_BPS(500));
			rig_group_range(&r, 0, 1);
			rig_flow(&r, (struct scheduler_flow){.priority = 7});
			rig_flow(&r, (struct scheduler_flow){.priority = 3});
			rig_flow(&r, (struct scheduler_flow){.priority = 0});
			rig_start(&r);
			rig_feed_always(&r, 0, sizes[i], sizes[i]);
			rig_feed_always(&r, 1, sizes[k], sizes[k]);
			rig_feed_always(&r, 2, sizes[k], sizes[k]);
			rig_run(&r, 10 * RIG_MS);
			rig_mark(&r);
			rig_run(&r, 300 * RIG_MS);
			lower = (double)(r.flows[1].bytes + r.flows[2].bytes);
			rig_expect("lower share of bytes", sizes[k], lower,
				   (double)r.flows[0].bytes / (LOWER_PARTS - 1), 0.12);
			rig_expect("share of the lowest", sizes[k], (double)r.flows[2].bytes,
				   lower / 2, 0.05);
			rig_end(&r);
		}
	}
}

static void packets_of_no_bytes_are_refused(void **state) {
	struct rig r = rig_make();
	struct scheduler_flow_report report;

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	rig_flow(&r, (struct scheduler_flow){.aqm = SCHEDULER_TAIL_DROP});
	rig_start(&r);
	for (int i = 0; i < 3; i++)
		assert_int_equal(rig_put(&r, 0, 0), SCHEDULER_TOO_LONG);
	assert_int_equal(rig_put(&r, 0, 1), SCHEDULER_QUEUED);
	scheduler_report_flow(r.s, 0, &report);
	assert_int_equal(report.drops[SCHEDULER_TOO_LONG], 3);
	assert_int_equal(scheduler_held(r.s), 1);
	rig_run(&r, RIG_MS);
	assert_int_equal(r.inside, 0);
	rig_end(&r);
}

/* More flows in one class than 16 bits count: each has its turn before one has a second. */
static void many_flows_of_one_class(void **state) {
	const uint32_t flows = 65540;
	struct rig r = rig_make();
	uint32_t taken = 0;

	(void)state;
	rig_channel(&r, SCHEDULER_RATE_MAX);
	rig_group_range(&r, 0, 1);
	for (uint32_t i = 0; i < flows; i++)
		rig_flow(&r, (struct scheduler_flow){.weight = 1});
	rig_start(&r);
	for (uint32_t i = 0; i < 2 * flows; i++)
		assert_int_equal(rig_put(&r, i % flows, 2048), SCHEDULER_QUEUED);
	for (uint64_t round = 1; round <= 2; round++) {
		while (taken < round * flows) {
			taken += rig_take(&r, (unsigned)(round * flows) - taken);
			r.now += RIG_STEP_NS;
		}
		for (uint32_t i = 0; i < flows; i++)
			assert_int_equal(r.flows[i].packets, round);
	}
	assert_int_equal(r.inside, 0);
	rig_end(&r);
}

static void absurd_depi_is_refused(void **state) {
	static const struct scheduler_depi absurd[] = {
		{.room = 1, .min_fragment = 1, .max_segments = 1, .entry_bytes = 2},
		{.room = 5, .min_fragment = 1, .max_segments = 1, .entry_bytes = 2},
		{.room = 1400, .min_fragment = 0, .max_segments = 1, .entry_bytes = 2},
		{.room = 1400, .min_fragment = 16, .max_segments = 0, .entry_bytes = 2},
		{.room = 1400, .min_fragment = 1396, .max_segments = 9, .entry_bytes = 2},
		{.room = 1400, .min_fragment = 16, .max_segments = 9, .entry_bytes = 700},
		{.room = 1400, .min_fragment = 16, .max_segments = 9, .entry_bytes = UINT16_MAX},
		{.room = 1400, .min_fragment = UINT16_MAX, .max_segments = 9},
		{.room = 1400, .min_fragment = 16, .max_segments = 9, .frame_bytes = UINT16_MAX},
	};
	const struct scheduler_depi good = {
		.room = 6, .min_fragment = 1, .max_segments = 1, .entry_bytes = 2};
	struct scheduler_channel c = {.rate = RIG_BPS(100), .depi = good};
	struct rig r = rig_make();
	const char *why;

	(void)state;
	rig_channel(&r, RIG_BPS(100));
	rig_group_range(&r, 0, 1);
	rig_flow(&r, (struct scheduler_flow){.weight = 1});
	rig_start(&r);
	for (size_t i = 0; i < ARRAY_COUNT(absurd); i++) {
		c.depi = absurd[i];
		assert_non_null(scheduler_set_channel(r.s, 0, &c));
		r.config.channels = &c;
		why = NULL;
		assert_null(scheduler_create(&r.config, &why));
		assert_non_null(why);
	}
	assert_int_equal(rig_put(&r, 0, 1500), SCHEDULER_QUEUED);
	rig_run(&r, RIG_MS); /* nothing of it was taken over */
	assert_int_equal(r.inside, 0);
	rig_end(&r);
}

/* One flow is empty after each of its long packets, the other never: the debts make them equal. */
static void debts_outlast_an_empty_queue(void **state) {
	(void)state;
	for (uint32_t modems = 1; modems <= 2; modems++) {
		struct rig r = rig_make();
		double all;

		rig_channel(&r, RIG_BPS(1000));
		rig_group_range(&r, 0, 1);
		for (uint32_t i = 0; i < 2; i++) {
			rig_modem(&r, 0, 0);
			rig_flow(&r, (struct scheduler_flow){.modem = i % modems});
		}
		rig_start(&r);
		rig_feed(&r, 0,
			 (struct rig_source){.kind = RIG_BACKLOGGED,
					     .backlog = 1,
					     .smallest = SCHEDULER_PACKET_MAX,
					     .largest = SCHEDULER_PACKET_MAX});
		rig_feed(&r, 1,
			 (struct rig_source){.kind = RIG_BACKLOGGED,
					     .backlog = 100,
					     .smallest = 1500,
					     .largest = 1500});
		rig_run(&r, 200 * RIG_MS);
		all = (double)(r.flows[0].bytes + r.flows[1].bytes);
		assert_true((double)r.flows[0].bytes < 0.53 * all);
		assert_true((double)r.flows[0].bytes > 0.25 * all);
		rig_end(&r);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(groups_share_a_modems_limit),
		cmocka_unit_test(priorities_share_a_modems_limit),
		cmocka_unit_test(short_and_long_packets_share_a_modems_limit),
		cmocka_unit_test(lower_priorities_share_in_bytes),
		cmocka_unit_test(packets_of_no_bytes_are_refused),
		cmocka_unit_test(many_flows_of_one_class),
		cmocka_unit_test(absurd_depi_is_refused),
		cmocka_unit_test(debts_outlast_an_empty_queue),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
