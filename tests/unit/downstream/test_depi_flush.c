/* SPDX-License-Identifier: BSD-3-Clause */
/* The DEPI stage: the flush timer, and the close on demand. */
#include "test.h"

#include "downstream/stages.h"

#include "depi_bench.h"
#include "fixture.h"

static struct depi_bench bench;

/* Nothing before its time, all at its time, the oldest first. */
static void flush_waits_as_long_as_told(void **state) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	(void)state;
	depi_bench_open_roomy(&bench);
	bench.clock.now = 1000;
	assert_int_equal(depi_bench_put(&bench, 2, 100, pkts), 0);
	bench.clock.now = 1010;
	assert_int_equal(depi_bench_put(&bench, 0, 100, pkts), 0);
	/* joins the first: no new time for it */
	assert_int_equal(depi_bench_put(&bench, 2, 100, pkts), 0);
	bench.clock.now = 2000;
	assert_int_equal(depi_bench_put(&bench, 4, 100, pkts), 0);
	assert_int_equal(bench.lower.depi.ends_open, 4);
	bench.clock.now = 1000 + DEPI_BENCH_FLUSH_NS - 1;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 0);
	bench.clock.now = 1000 + DEPI_BENCH_FLUSH_NS;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 1);
	assert_int_equal(depi_bench_take(&bench, pkts[0]), 2);
	assert_int_equal(bench.readers[2].frames, 2);
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 0);
	bench.clock.now = 1000 * DEPI_BENCH_FLUSH_NS;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 2);
	assert_int_equal(depi_bench_take(&bench, pkts[0]), 0);
	assert_int_equal(depi_bench_take(&bench, pkts[1]), 4);
	assert_int_equal(bench.lower.counters.values[COUNTER_DEPI_FLUSHED], 3);
	depi_bench_check(&bench, 4);
	depi_bench_close(&bench);
}

/* A DEPI frame that was full and opened again counts its time from then, and stands behind. */
static void flush_counts_from_the_opening(void **state) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	(void)state;
	depi_bench_open_roomy(&bench);
	assert_int_equal(depi_bench_put(&bench, 0, 1000, pkts), 0);
	bench.clock.now = 10;
	assert_int_equal(depi_bench_put(&bench, 1, 100, pkts), 0);
	bench.clock.now = 20;
	/* full; its rest opened another at 20 */
	assert_int_equal(depi_bench_put(&bench, 0, 1000, pkts), 1);
	assert_int_equal(depi_bench_take(&bench, pkts[0]), 0);
	bench.clock.now = 10 + DEPI_BENCH_FLUSH_NS;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 1);
	assert_int_equal(depi_bench_take(&bench, pkts[0]), 1);
	bench.clock.now = 20 + DEPI_BENCH_FLUSH_NS - 1;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 0);
	bench.clock.now = 20 + DEPI_BENCH_FLUSH_NS;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 1);
	assert_int_equal(depi_bench_take(&bench, pkts[0]), 0);
	depi_bench_check(&bench, 3);
	depi_bench_close(&bench);
}

/* What a stop uses: the oldest first, without regard to time, then nothing. */
static void oldest_is_closed_on_demand(void **state) {
	struct counters *c = &bench.lower.counters;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	(void)state;
	depi_bench_open_roomy(&bench);
	for (uint16_t i = 0; i < DEPI_CHANNELS; i++) {
		bench.clock.now = i;
		assert_int_equal(
			depi_bench_put(&bench, (uint16_t)(DEPI_CHANNELS - 1 - i), 50, pkts), 0);
	}
	for (uint16_t i = DEPI_CHANNELS; i-- > 0;) {
		struct rte_mbuf *m = depi_close_oldest(&bench.lower.depi, c);

		assert_int_equal(depi_bench_take(&bench, m), i);
		assert_int_equal(bench.lower.depi.ends_open, i);
	}
	assert_null(depi_close_oldest(&bench.lower.depi, c));
	depi_bench_close(&bench);
}

/* A few bytes alone make a frame of Ethernet's least length; depi_read() looks at what is behind them. */
static void few_bytes_are_padded(void **state) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	(void)state;
	depi_bench_open_roomy(&bench);
	for (uint32_t size = 6; size < 60; size++) {
		assert_int_equal(depi_bench_put(&bench, 3, size, pkts), 0);
		bench.clock.now += DEPI_BENCH_FLUSH_NS;
		assert_int_equal(ds_depi(&bench.lower, pkts, 0), 1);
		assert_true(rte_pktmbuf_pkt_len(pkts[0]) >= 60);
		assert_int_equal(depi_bench_take(&bench, pkts[0]), 3);
	}
	assert_int_equal(bench.readers[3].frames, 54);
	depi_bench_check(&bench, 54);
	depi_bench_close(&bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flush_waits_as_long_as_told),
		cmocka_unit_test(flush_counts_from_the_opening),
		cmocka_unit_test(oldest_is_closed_on_demand),
		cmocka_unit_test(few_bytes_are_padded),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
