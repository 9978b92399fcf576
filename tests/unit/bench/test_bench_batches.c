/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run's figures are made of: the middle half of batches of unequal size, and their stages. */
#include "test_main.h"

#include "batches.h"

static struct batch batch_of(uint64_t packets, uint64_t cycles) {
	struct batch b = {.packets = packets, .cycles = cycles};

	b.stages[0][0] = cycles / 4;
	b.stages[1][2] = cycles - cycles / 4;
	return b;
}

/* By cycles a packet the order is 5, 10, 20, 1000; both ends are left out. */
TEST(test_middle_half_by_packet) {
	struct batch batches[] = {
		batch_of(1, 1000),
		batch_of(100, 1000),
		batch_of(300, 6000),
		batch_of(2000, 10000),
	};
	double stages[BENCH_MAX_LISTS][PIPELINE_MAX_STAGES] = {0};
	double cycles = 0;

	batches_mean(batches, RTE_DIM(batches), &cycles, stages);
	assert_float_equal(cycles, 7000.0 / 400, 1e-9);
	assert_float_equal(stages[0][0], 1750.0 / 400, 1e-9);
	assert_float_equal(stages[1][2], 5250.0 / 400, 1e-9);
	assert_float_equal(stages[0][1], 0, 0);
}

/* A batch of which nothing came out is as costly as can be: it goes to the end. */
TEST(test_nothing_carried) {
	struct batch batches[] = {
		batch_of(0, 1),
		batch_of(10, 100),
		batch_of(10, 100),
		batch_of(10, 400),
	};
	double cycles = 0;

	batches_mean(batches, RTE_DIM(batches), &cycles, NULL);
	assert_float_equal(cycles, 25, 1e-9);
}

TEST(test_no_batches) {
	struct batch none = batch_of(0, 50);
	double cycles = 0;

	batches_mean(&none, 0, &cycles, NULL);
	assert_float_equal(cycles, 0, 0);
	batches_mean(&none, 1, &cycles, NULL);
	assert_float_equal(cycles, 0, 0);
}

TEST(test_accounts_begin_anew) {
	struct pipeline p = {
		.count = 2,
		.idle_cycles = 1000,
		.accounts = {{.cycles = 30, .packets = 3}, {.cycles = 12, .packets = 3}},
	};
	struct batch b = {.cycles = 100};

	batch_take_accounts(&b, 1, &p);
	assert_int_equal(b.stages[1][0], 30);
	assert_int_equal(b.stages[1][1], 12);
	assert_int_equal(b.cycles, 142);
	batch_take_accounts(&b, 0, &p);
	assert_int_equal(b.stages[0][0], 0);
	assert_int_equal(b.cycles, 142);
	assert_int_equal(p.idle_cycles, 0);
}

/* Requests are no packets, so that the sink's calls look idle. */
TEST(test_a_list_of_one_stage) {
	struct pipeline p = {.count = 1, .idle_cycles = 70, .accounts = {{.cycles = 2}}};
	struct batch b = {0};

	batch_take_accounts(&b, 0, &p);
	assert_int_equal(b.stages[0][0], 72);
	assert_int_equal(b.cycles, 72);
}
