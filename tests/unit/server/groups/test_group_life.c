/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups come and go while the server has traffic: every packet is accounted for, and nothing is left of them. */
#include "test_main.h"

#include <rte_ethdev.h>

#include "model/load/loader.h"
#include "server/measure.h"

#include "fixture.h"
#include "life_bench.h"

#define CYCLES 200
#define SETTLED 20 /* cycles after which memory stays as it is */
#define MS 1000000ull

static struct life_bench storage, *const bench = &storage;
static bool chains = true; /* the ports take them */

int __real_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info);
int __wrap_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info);
int __wrap_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info) {
	int ret = __real_rte_eth_dev_info_get(id, info);

	if (!chains)
		info->tx_offload_capa &= ~RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	return ret;
}

/* All that was sent has come to a group or was dropped by the port, in the sums of all that there ever were. */
static void check_totals(void) {
	const struct server *s = &bench->server;
	struct life_totals t = life_bench_totals(bench);
	uint64_t held = 0;

	for (unsigned g = 0; g < s->group_count; g++)
		held += s->groups[g].there ? downstream_held(s->groups[g].downstream) : 0;
	assert_int_equal(t.down_in, t.down_out + t.down_dropped + held);
	assert_int_equal(bench->sent_down + bench->sent_up,
			 t.down_in + t.up_in + t.port_dropped + server_shares_held_in(&s->shares));
	assert_true(server_balanced(s));
}

/* On the ports of others and on ports of its own in turn; every third goes with packets in it. */
TEST(come_and_go) {
	static struct service_group sg[LIFE_PAIRS];
	struct life_left left = {0};
	struct pool_needs taken = {0};

	life_bench_open(bench, 1, 3);
	life_bench_load(&sg[0], 3, 0, 1, 2, 0);
	life_bench_load(&sg[1], 4, 1, 2, 2, 2);
	for (unsigned cycle = 0; cycle < CYCLES; cycle++) {
		const struct service_group *comes = &sg[cycle % 2];
		unsigned group;

		if (cycle == SETTLED) {
			left = life_left_now();
			taken = bench->server.pools.taken;
		}
		life_bench_traffic(bench, LIFE_SHARED, &bench->file[0], 3);
		life_bench_plug(cycle % 2);
		group = life_bench_add(bench, comes);
		assert_int_equal(group, 1);
		life_bench_comes_again(bench, comes->id);
		life_bench_traffic(bench, cycle % 2, comes, 5);
		life_bench_traffic(bench, LIFE_SHARED, &bench->file[0], 2);
		life_bench_pass(bench, cycle % 3 == 0 ? 20000 : 3 * MS);
		life_bench_remove(bench, group, 0);
		check_totals();
		life_bench_traffic(bench, LIFE_SHARED, &bench->file[0], 1);
		life_bench_pass(bench, 2 * MS);
		assert_int_equal(server_held(&bench->server), 0);
	}
	life_left_check(&left);
	assert_memory_equal(&bench->server.pools.taken, &taken, sizeof(taken));
	assert_int_equal(bench->server.gone.groups, CYCLES);
	assert_true(bench->server.gone.down.drops[DROP_STOPPED] > 0);
	assert_int_equal(bench->taken_up[1], 6 * CYCLES);
	assert_true(bench->taken_up[3] > 0 && bench->taken_up[4] > 0);
	life_bench_close(bench);
	for (unsigned p = 0; p < LIFE_PAIRS; p++)
		service_group_free(&sg[p]);
}

/* A group of the start, whose ports were its own: what their descriptors took is given back with them. */
TEST(the_first_goes_and_comes) {
	struct pool_needs taken;
	struct service_group own;

	life_bench_open(bench, 1, 3);
	life_bench_load(&own, 4, 1, 2, 2, 2);
	life_bench_plug(1);
	life_bench_add(bench, &own);
	taken = bench->server.pools.taken;
	life_bench_remove(bench, 0, 0);
	life_bench_plug(0);
	assert_int_equal(life_bench_add(bench, &bench->file[0]), 0);
	assert_memory_equal(&bench->server.pools.taken, &taken, sizeof(taken));
	assert_true(bench->server.keys_seconds > 0 && bench->server.keys_seconds < 3600);
	life_bench_close(bench);
	service_group_free(&own);
}

/* Each direction of each group has a queue of its own. */
static void check_crypto_queues(void) {
	const struct server *s = &bench->server;
	const struct crypto_queue *queues[2 * LIFE_IDS];
	unsigned count = 0;

	for (unsigned g = 0; g < s->group_count; g++) {
		queues[count++] = s->groups[g].downstream->lower.crypto;
		queues[count++] = s->groups[g].upstream->r.crypto;
	}
	for (unsigned q = 0; q < count; q++) {
		for (unsigned other = 0; other < q; other++)
			assert_ptr_not_equal(queues[q], queues[other]);
	}
}

/* As many as may come find all that was set aside for them, and no more: on ports that the first one had for itself,
 * which become shared. */
TEST(all_that_may_come) {
	static struct service_group sg[LIFE_IDS];
	const struct server_pools *pools = &bench->server.pools;
	const unsigned most = LIFE_IDS - 1;

	life_bench_open(bench, 1, most);
	assert_int_equal(server_latency(&bench->server, true), 0);
	for (unsigned id = 2; id <= most; id++) {
		life_bench_load(&sg[id], id, LIFE_SHARED, id % 3, (id + 1) % 3, (id + 2) % 3);
		life_bench_add(bench, &sg[id]);
	}
	check_crypto_queues();
	assert_memory_equal(&pools->taken, &pools->most, sizeof(pools->most));
	for (unsigned id = 2; id <= most; id++)
		life_bench_traffic(bench, LIFE_SHARED, &sg[id], 3);
	life_bench_pass(bench, 3 * MS);
	check_totals();
	for (unsigned id = 2; id <= most; id++)
		assert_int_equal(bench->taken_up[id], 3);
	life_bench_close(bench);
	for (unsigned id = 2; id <= most; id++)
		service_group_free(&sg[id]);
}

/* What a port that several shared has counted is the server's when the last of them has gone. */
TEST(a_shared_port_goes) {
	static struct service_group sg[2], nobody;
	struct life_totals all;

	life_bench_open(bench, 1, 3);
	life_bench_load(&nobody, 6, 1, 1, 1, 1);
	for (unsigned g = 0; g < 2; g++) {
		life_bench_load(&sg[g], 4 + g, 1, g, 2 - g, 1);
		assert_int_equal(life_bench_add(bench, &sg[g]), 1 + g);
		life_bench_traffic(bench, 1, &sg[g], 3);
	}
	for (unsigned i = 0; i < 5; i++)
		assert_true(life_bench_up(bench, 1, &nobody, i));
	life_bench_pass(bench, 3 * MS);
	all = life_bench_totals(bench);
	assert_int_equal(all.port_dropped, 5);
	for (unsigned g = 2; g > 0; g--) {
		life_bench_remove(bench, g, 0);
		check_totals();
	}
	assert_int_equal(life_bench_totals(bench).port_dropped, 5);
	assert_int_equal(life_bench_totals(bench).port_in, all.port_in);
	life_bench_close(bench);
	service_group_free(&nobody);
	for (unsigned g = 0; g < 2; g++)
		service_group_free(&sg[g]);
}

static void depi_comes(const struct service_group *sg) {
	uint64_t before = bench->depi_frames;

	life_bench_traffic(bench, LIFE_SHARED, sg, 8);
	life_bench_pass(bench, 3 * MS);
	assert_true(bench->depi_frames > before);
}

static const void *copies_of(unsigned group) {
	return bench->server.groups[group].downstream->lower.linear;
}

/* An R-PHY port that takes no chains of buffers: DEPI frames are copied, also those of groups that come. */
TEST(frames_are_copied) {
	const struct server_pools *pools = &bench->server.pools;
	struct service_group comes;

	for (unsigned i = 0; i < 2; i++) {
		chains = i == 1;
		life_bench_open(bench, 1, 2);
		assert_int_equal(pools->linear == NULL, chains);
		assert_ptr_equal(copies_of(0), pools->linear);
		depi_comes(&bench->file[0]);
		life_bench_load(&comes, 3, LIFE_SHARED, 1, 2, 0);
		life_bench_add(bench, &comes);
		assert_ptr_equal(copies_of(1), pools->linear);
		depi_comes(&comes);
		depi_comes(&bench->file[0]);
		assert_int_equal(life_bench_totals(bench).down_out, 24);
		life_bench_close(bench);
		service_group_free(&comes);
	}
}

ALL_TESTS(NULL, fixture_stop)
