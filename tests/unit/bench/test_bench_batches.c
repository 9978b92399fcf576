/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests batches.c: the mean of the middle half of a run's batches, and the cycles per stage. */
#include "test_main.h"

#include "batches.h"

static struct batch make_batch(uint64_t packets, uint64_t cycles) {
	struct batch b = {.packets = packets, .cycles = cycles};

	b.stages[0][0] = cycles / 4;
	b.stages[1][2] = cycles - cycles / 4;
	return b;
}

/* Sorted by cycles per packet (5, 10, 20, 1000), the lowest and the highest quarter are dropped. */
TEST(mean_uses_middle_half_by_cycles_per_packet) {
	struct batch batches[] = {
		make_batch(1, 1000),
		make_batch(100, 1000),
		make_batch(300, 6000),
		make_batch(2000, 10000),
	};
	double stages[BENCH_MAX_LISTS][PIPELINE_MAX_STAGES] = {0};
	double cycles = 0;

	batches_mean(batches, RTE_DIM(batches), &cycles, stages);
	assert_float_equal(cycles, 7000.0 / 400, 1e-9);
	assert_float_equal(stages[0][0], 1750.0 / 400, 1e-9);
	assert_float_equal(stages[1][2], 5250.0 / 400, 1e-9);
	assert_float_equal(stages[0][1], 0, 0);
}

TEST(batch_without_packets_is_most_expensive) {
	struct batch batches[] = {
		make_batch(0, 1),
		make_batch(10, 100),
		make_batch(10, 100),
		make_batch(10, 400),
	};
	double cycles = 0;

	batches_mean(batches, RTE_DIM(batches), &cycles, NULL);
	assert_float_equal(cycles, 25, 1e-9);
}

TEST(mean_without_packets_is_zero) {
	struct batch none = make_batch(0, 50);
	double cycles = 0;

	batches_mean(&none, 0, &cycles, NULL);
	assert_float_equal(cycles, 0, 0);
	batches_mean(&none, 1, &cycles, NULL);
	assert_float_equal(cycles, 0, 0);
}

TEST(accounts_are_moved_and_reset) {
	struct pipeline p = {
		.count = 2,
		.idle_cycles = 1000,
		.accounts = {{.cycles = 30, .packets = 3}, {.cycles = 12, .packets = 3}},
	};
	struct batch b = {.cycles = 100};

	batch_add_accounts(&b, 1, &p);
	assert_int_equal(b.stages[1][0], 30);
	assert_int_equal(b.stages[1][1], 12);
	assert_int_equal(b.cycles, 142);
	batch_add_accounts(&b, 0, &p);
	assert_int_equal(b.stages[0][0], 0);
	assert_int_equal(b.cycles, 142);
	assert_int_equal(p.idle_cycles, 0);
}

/* Requests are not packets, so that the sink's cycles count as idle; they belong to its stage. */
TEST(idle_cycles_of_single_stage_belong_to_stage) {
	struct pipeline p = {.count = 1, .idle_cycles = 70, .accounts = {{.cycles = 2}}};
	struct batch b = {0};

	batch_add_accounts(&b, 0, &p);
	assert_int_equal(b.stages[0][0], 72);
	assert_int_equal(b.cycles, 72);
}
