/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups come and go while the server has traffic, or cannot: every packet is accounted for, and nothing is left of them. */
#include "test_main.h"

#include <rte_ethdev.h>

#include "server/measure.h"

#include "group_file.h"

#define CYCLES 200
#define SETTLED 20 /* cycles after which memory stays as it is */

static bool chains = true; /* the ports take them */
__typeof__(rte_eth_dev_info_get) __real_rte_eth_dev_info_get, __wrap_rte_eth_dev_info_get;

int __wrap_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info) {
	int ret = __real_rte_eth_dev_info_get(id, info);

	if (!chains)
		info->tx_offload_capa &= ~RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	return ret;
}

/* On the ports of others and on ports of its own in turn; every third goes with packets in it. */
TEST(add_and_remove) {
	const struct service_group *sg[LIFE_PAIRS];
	struct life_left left = {0};
	struct pool_needs reserved = {0};

	life_kit_open(bench, 1, 3);
	sg[0] = life_kit_group(bench, 3, 0, 1, 2, 0);
	sg[1] = life_kit_group(bench, 4, 1, 2, 2, 2);
	for (unsigned cycle = 0; cycle < CYCLES; cycle++) {
		const struct service_group *comes = sg[cycle % 2];
		unsigned group;

		if (cycle == SETTLED) {
			left = life_left_now();
			reserved = server->pools.reserved;
		}
		life_kit_traffic(bench, LIFE_SHARED, &bench->file[0], 3);
		life_kit_plug(cycle % 2);
		group = life_kit_add(bench, comes);
		assert_int_equal(group, 1);
		life_kit_comes_again(bench, comes->id);
		life_kit_traffic(bench, cycle % 2, comes, 5);
		life_kit_traffic(bench, LIFE_SHARED, &bench->file[0], 2);
		life_kit_pass(bench, cycle % 3 == 0 ? 20000 : 3 * MS);
		life_kit_remove(bench, group, 0);
		assert_int_equal(server->group_count, 1);
		life_kit_check_totals(bench);
		life_kit_traffic(bench, LIFE_SHARED, &bench->file[0], 1);
		life_kit_pass(bench, 2 * MS);
		assert_int_equal(server_pending(server), 0);
	}
	life_left_check(&left);
	assert_memory_equal(&server->pools.reserved, &reserved, sizeof(reserved));
	assert_int_equal(server->gone.groups, CYCLES);
	assert_true(server->gone.down.drops[DROP_STOPPED] > 0);
	assert_int_equal(bench->taken_up[1], 6 * CYCLES);
	assert_true(bench->taken_up[3] > 0 && bench->taken_up[4] > 0);
}

/* A group of the start, whose ports were its own: what their descriptors took is given back with them. */
TEST(the_first_goes_and_comes) {
	struct pool_needs reserved;
	char why[LIVE_LINE];

	life_kit_open(bench, 1, 3);
	assert_false(server_group_remove(server, 1, 0, why));
	life_kit_plug(1);
	life_kit_add(bench, life_kit_group(bench, 4, 1, 2, 2, 2));
	reserved = server->pools.reserved;
	life_kit_remove(bench, 0, 0);
	life_kit_plug(0);
	assert_int_equal(life_kit_add(bench, &bench->file[0]), 0);
	assert_memory_equal(&server->pools.reserved, &reserved, sizeof(reserved));
	assert_true(server->keys_seconds > 0 && server->keys_seconds < 3600);
}

/* Each direction of each group has a queue of its own. */
static void check_crypto_queues(void) {
	const struct crypto_queue *queues[2 * LIFE_IDS];

	for (unsigned q = 0; q < 2 * server->group_count; q++) {
		const struct served_group *g = &server->groups[q / 2];

		queues[q] = q % 2 == 0 ? g->downstream->lower.crypto : g->upstream->r.crypto;
		for (unsigned other = 0; other < q; other++)
			assert_ptr_not_equal(queues[q], queues[other]);
	}
}

/* As many as may come find all that was set aside for them, and no more: on ports that the first one had for itself,
 * which become shared. */
TEST(all_that_may_come) {
	const struct server_pools *pools = &server->pools;
	const unsigned most = LIFE_IDS - 1;

	life_kit_open(bench, 1, most);
	assert_int_equal(server_latency(server, true), 0);
	for (unsigned id = 2; id <= most; id++)
		life_kit_add(bench, life_kit_group(bench, id, LIFE_SHARED, id % 3, (id + 1) % 3,
						   (id + 2) % 3));
	check_crypto_queues();
	assert_memory_equal(&pools->reserved, &pools->most, sizeof(pools->most));
	for (unsigned id = 2; id <= most; id++)
		life_kit_traffic(bench, LIFE_SHARED, &bench->others[id], 3);
	life_kit_pass(bench, 3 * MS);
	life_kit_check_totals(bench);
	for (unsigned id = 2; id <= most; id++)
		assert_int_equal(bench->taken_up[id], 3);
}

TEST(a_shared_port_goes) {
	const struct service_group *sg;
	struct life_totals all;

	life_kit_open(bench, 1, 3);
	for (unsigned g = 0; g < 2; g++) {
		sg = life_kit_group(bench, 4 + g, 1, g, 2 - g, 1);
		assert_int_equal(life_kit_add(bench, sg), 1 + g);
		life_kit_traffic(bench, 1, sg, 3);
	}
	sg = life_kit_group(bench, 6, 1, 1, 1, 1); /* is not added */
	life_kit_ups(bench, 1, sg, 5);
	life_kit_pass(bench, 3 * MS);
	all = life_kit_totals(bench);
	assert_int_equal(all.port_dropped, 5);
	for (unsigned g = 2; g > 0; g--) {
		life_kit_remove(bench, g, 0);
		life_kit_check_totals(bench);
	}
	assert_int_equal(life_kit_totals(bench).port_dropped, 5);
	assert_int_equal(life_kit_totals(bench).port_in, all.port_in);
}

static void depi_comes(const struct service_group *sg) {
	uint64_t before = bench->depi_frames;

	life_kit_traffic(bench, LIFE_SHARED, sg, 8);
	life_kit_pass(bench, 3 * MS);
	assert_true(bench->depi_frames > before);
}

/* An R-PHY port that takes no chains of buffers: DEPI frames are copied, also those of groups that come. */
TEST(frames_are_copied) {
	const struct server_pools *pools = &server->pools;
	const struct service_group *sg;

	for (unsigned i = 0; i < 2; i++) {
		chains = i == 1;
		life_kit_open(bench, 1, 2);
		assert_int_equal(pools->linear == NULL, chains);
		depi_comes(&bench->file[0]);
		sg = life_kit_group(bench, 3, LIFE_SHARED, 1, 2, 0);
		life_kit_add(bench, sg);
		for (unsigned g = 0; g < 2; g++)
			assert_ptr_equal(server->groups[g].downstream->lower.linear, pools->linear);
		depi_comes(sg);
		depi_comes(&bench->file[0]);
		assert_int_equal(life_kit_totals(bench).down_out, 24);
	}
}

static struct service_group *comes;
static unsigned there; /* groups at the start */

/* The one that is there has its traffic, with nothing lost. */
static void still_serves(void) {
	life_kit_serves(bench);
	assert_int_equal(server_pending(server), 0);
}

static void not_added(const char *expected) {
	const struct life_left left = life_left_now();
	const struct pool_needs reserved = server->pools.reserved;
	unsigned lists[2] = {0}, group = 77;
	char why[LIVE_LINE] = "";

	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		lists[0] += server->workers[w].entry_count;
	if (server_group_add(server, comes, &group, why) || strstr(why, expected) == NULL)
		fail_msg("found: %s, and not: %s", why, expected);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		lists[1] += server->workers[w].entry_count;
	assert_int_equal(lists[0], lists[1]);
	assert_int_equal(group, 77);
	assert_int_equal(server->group_count, there);
	life_left_check(&left);
	assert_memory_equal(&server->pools.reserved, &reserved, sizeof(reserved));
	still_serves();
}

/* The same after one change of the group. */
#define REFUSED_WITH(member, value, expected)                  \
	do {                                                   \
		__typeof__(comes->member) was = comes->member; \
                                                               \
		comes->member = (value);                       \
		not_added(expected);                           \
		comes->member = was;                           \
	} while (0)

static void try_what_does_not_fit(void) {
	char *network = comes->network.device;

	REFUSED_WITH(id, 1, "service group 1: is there already");
	REFUSED_WITH(threads.upstream_core, 99,
		     "service group 3: threads.upstream_core: found core 99, allowed: 1-3, the "
		     "cores that have a worker");
	REFUSED_WITH(threads.lower_mac_core, 98, "threads.lower_mac_core: found core 98");
	comes->threads.asked.main_core = true;
	REFUSED_WITH(threads.main_core, 1, "threads.main_core: found core 1, allowed: 0, ");
	comes->threads.asked.main_core = false;
	REFUSED_WITH(rphy.mtu, 1600, "rphy.mtu");
	REFUSED_WITH(max_frame, 9000, "max_frame");
	REFUSED_WITH(network.device, comes->rphy_port.device, "another port's");
	REFUSED_WITH(rphy_port.device, network, "another port's");
	REFUSED_WITH(network.device, (char[]){"net_nobody_knows"}, "cannot be opened");
	REFUSED_WITH(rphy_port.device, (char[]){"net_nobody_knows"}, "cannot be opened");
	REFUSED_WITH(max_queued, 65536, "max_queued");
	REFUSED_WITH(upstream.pending, 100000000, "upstream.held");
	REFUSED_WITH(modems[0].addresses[0], bench->file[0].modems[0].addresses[0],
		     "service groups 1 and 3: found address 10.1.0.1 in both");
	REFUSED_WITH(upstream_channels[0].session, bench->file[0].upstream_channels[0].session,
		     "service groups 1 and 3: found session 0x00020101 in both");
}

/* On ports that were the first group's own, and on such as are shared. */
TEST(what_does_not_fit) {
	for (there = 1; there <= 2; there++) {
		life_kit_open(bench, there, there + 1);
		comes = life_kit_group(bench, 3, 0, 1, 2, 0);
		still_serves();
		try_what_does_not_fit();
		life_kit_add(bench, comes);
		still_serves();
	}
}

EACH_TEST(NULL, file_end)
ALL_TESTS(NULL, fixture_stop)
