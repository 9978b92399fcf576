/* SPDX-License-Identifier: BSD-3-Clause */
/* Downstream, stage by stage: what no test saw when `make mutants` broke it. */
#include "test.h"

#include "downstream/stages.h"

#include "depi_bench.h"
#include "fixture.h"

static struct depi_bench bench;

/* A frame that needs to be cut, and no buffer for a part: the DEPI frame that was opened for it is
 * given up, too, and none without segments ever goes out. */
static void no_empty_frame_stays_open(void **state) {
	struct rte_mbuf *pkts[PIPELINE_CAPACITY], *taken[255];
	unsigned n = 0;

	(void)state;
	depi_bench_open_roomy(&bench);
	while (n < 255 && (taken[n] = rte_pktmbuf_alloc(bench.fragments)) != NULL)
		n++;
	assert_in_range(n, 1, 255);
	bench.ends[2].lossy = true;
	assert_int_equal(depi_bench_put(&bench, 2, 2000, pkts), 0);
	assert_int_equal(bench.lower.counters.drops[DROP_NO_BUFFER], 1);
	assert_int_equal(rte_mempool_in_use_count(bench.headers), 0);
	bench.clock.now += 2 * DEPI_BENCH_FLUSH_NS;
	assert_int_equal(ds_depi(&bench.lower, pkts, 0), 0);
	rte_pktmbuf_free_bulk(taken, n);
	depi_bench_close(&bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_empty_frame_stays_open),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
