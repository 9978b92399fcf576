/* SPDX-License-Identifier: BSD-3-Clause */
/* The DEPI stage: the flush timer, and the close on demand. */
#include "test.h"

#include "downstream/stages.h"

#include "depi_bench.h"
#include "fixture.h"

#define FLUSH_NS 50000

static struct depi_bench bench;

static void bench_open(void) {
	const struct depi_bench_config c = {
		.mtu = 1500,
		.max_segments = 16,
		.family = 4,
		.extra = PSP_EXTRA_COUNTER,
		.flush_ns = FLUSH_NS,
		.packets = 255,
		.headers = 255,
		.fragments = 255,
	};

	depi_bench_open(&bench, &c);
}

/* Puts one frame in and returns how many DEPI frames came out. */
static uint16_t put(uint16_t channel, uint32_t size, struct rte_mbuf **pkts) {
	pkts[0] = depi_bench_frame(&bench, channel, size);
	assert_non_null(pkts[0]);
	return ds_depi(&bench.lower, pkts, 1);
}

static uint32_t read_and_free(struct rte_mbuf *m) {
	uint32_t channel = depi_session(m) - DEPI_SESSION;

	depi_bench_read(&bench, m);
	rte_pktmbuf_free(m);
	return channel;
}

/* Nothing before its time, all at its time, the oldest first. */
static void flush_waits_as_long_as_told(void **state) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	(void)state;
	bench_open();
	bench.clock.now = 1000;
	assert_int_equal(put(2, 100, pkts), 0);
	bench.clock.now = 1010;
	assert_int_equal(put(0, 100, pkts), 0);
	assert_int_equal(put(2, 100, pkts), 0); /* joins the first: no new time for it */
	bench.clock.now = 2000;
	assert_int_equal(put(4, 100, pkts), 0);
	assert_int_equal(bench.lower.depi.ends_open, 4);
	bench.clock.now = 1000 + FLUSH_NS - 1;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 0);
	bench.clock.now = 1000 + FLUSH_NS;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 1);
	assert_int_equal(read_and_free(pkts[0]), 2);
	assert_int_equal(bench.readers[2].frames, 2);
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 0);
	bench.clock.now = 1000 * FLUSH_NS;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 2);
	assert_int_equal(read_and_free(pkts[0]), 0);
	assert_int_equal(read_and_free(pkts[1]), 4);
	assert_int_equal(bench.lower.counters.values[COUNTER_DEPI_FLUSHED], 3);
	depi_bench_check(&bench, 4);
	depi_bench_close(&bench);
}

/* A DEPI frame that was full and opened again counts its time from then, and stands behind. */
static void flush_counts_from_the_opening(void **state) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	(void)state;
	bench_open();
	assert_int_equal(put(0, 1000, pkts), 0);
	bench.clock.now = 10;
	assert_int_equal(put(1, 100, pkts), 0);
	bench.clock.now = 20;
	assert_int_equal(put(0, 1000, pkts), 1); /* full; its rest opened another at 20 */
	assert_int_equal(read_and_free(pkts[0]), 0);
	bench.clock.now = 10 + FLUSH_NS;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 1);
	assert_int_equal(read_and_free(pkts[0]), 1);
	bench.clock.now = 20 + FLUSH_NS - 1;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 0);
	bench.clock.now = 20 + FLUSH_NS;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 1);
	assert_int_equal(read_and_free(pkts[0]), 0);
	depi_bench_check(&bench, 3);
	depi_bench_close(&bench);
}

/* What a stop uses: the oldest first, without regard to time, then nothing. */
static void oldest_is_closed_on_demand(void **state) {
	struct counters *c = &bench.lower.counters;
	struct rte_mbuf *pkts[PIPELINE_CAPACITY];

	(void)state;
	bench_open();
	for (uint16_t i = 0; i < DEPI_CHANNELS; i++) {
		bench.clock.now = i;
		assert_int_equal(put((uint16_t)(DEPI_CHANNELS - 1 - i), 50, pkts), 0);
	}
	for (uint16_t i = DEPI_CHANNELS; i-- > 0;) {
		struct rte_mbuf *m = depi_close_oldest(&bench.lower.depi, c);

		assert_int_equal(read_and_free(m), i);
		assert_int_equal(bench.lower.depi.ends_open, i);
	}
	assert_null(depi_close_oldest(&bench.lower.depi, c));
	depi_bench_close(&bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flush_waits_as_long_as_told),
		cmocka_unit_test(flush_counts_from_the_opening),
		cmocka_unit_test(oldest_is_closed_on_demand),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
