/* SPDX-License-Identifier: BSD-3-Clause */
/* Downstream, stage by stage: what no test saw when `make mutants` broke it. */
#include "test.h"

#include "downstream/flow_cache.h"
#include "downstream/stages.h"
#include "model/service_group.h"

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

/* Two flows whose first place is the same are both known: the later one has its second place. */
static void two_flows_of_one_place(void **state) {
	struct flow_key first = {.family = RULE_IPV4}, second = {.family = RULE_IPV4};
	struct flow_cache cache;
	uint32_t hash;

	(void)state;
	assert_int_equal(flow_cache_create(&cache, 64), 0);
	hash = flow_cache_hash(&first);
	do
		second.words[0]++;
	while (((flow_cache_hash(&second) ^ hash) & cache.mask) != 0);
	assert_non_null(flow_cache_learn(&cache, &first, hash, 0));
	assert_non_null(flow_cache_learn(&cache, &second, flow_cache_hash(&second), 0));
	assert_non_null(flow_cache_find(&cache, &first, hash, false));
	assert_non_null(flow_cache_find(&cache, &second, flow_cache_hash(&second), true));
	flow_cache_free(&cache);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_empty_frame_stays_open),
		cmocka_unit_test(two_flows_of_one_place),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
