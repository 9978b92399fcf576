/* SPDX-License-Identifier: BSD-3-Clause */
/* An R-PHY port that takes no chains of buffers: DEPI frames are copied, also those of groups that come. */
#include "test.h"

#include <rte_ethdev.h>

#include "model/load/loader.h"

#include "fixture.h"
#include "life_bench.h"

#define MS 1000000ull

static struct life_bench storage, *const bench = &storage;
static bool chains; /* the ports take them */

int __real_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info);
int __wrap_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info);
int __wrap_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info) {
	int ret = __real_rte_eth_dev_info_get(id, info);

	if (!chains)
		info->tx_offload_capa &= ~RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	return ret;
}

static void traffic(const struct service_group *sg, uint32_t *serial) {
	uint64_t before = bench->depi_frames;

	for (unsigned i = 0; i < 8; i++)
		assert_true(life_bench_down(bench, LIFE_SHARED, sg, 300, (*serial)++));
	life_bench_pass(bench, 3 * MS);
	assert_true(bench->depi_frames > before);
}

static const void *copies_of(unsigned group) {
	return bench->server.groups[group].downstream->lower.linear;
}

static void frames_are_copied(void **state) {
	const struct server_pools *pools = &bench->server.pools;
	struct service_group comes;
	uint32_t serial = 0;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		chains = i == 1;
		life_bench_open(bench, 1, 2);
		assert_int_equal(pools->linear == NULL, chains);
		assert_ptr_equal(copies_of(0), pools->linear);
		traffic(&bench->file[0], &serial);
		life_bench_load(&comes, 3, LIFE_SHARED, 1, 2, 0);
		life_bench_add(bench, &comes);
		assert_ptr_equal(copies_of(1), pools->linear);
		traffic(&comes, &serial);
		traffic(&bench->file[0], &serial);
		assert_int_equal(life_bench_totals(bench).down_out, 24);
		life_bench_close(bench);
		service_group_free(&comes);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(frames_are_copied),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
