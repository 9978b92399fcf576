/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests adding and removing groups under traffic: packet counters, leaks, and refusals. */
#include "test_main.h"

#include <rte_ethdev.h>

#include "server/measure.h"

#include "group_file.h"

#define CYCLES 200
#define SETTLED 20 /* cycles after which memory use is constant */

static bool chains = true; /* ports support chained mbufs on transmission */
__typeof__(rte_eth_dev_info_get) __real_rte_eth_dev_info_get, __wrap_rte_eth_dev_info_get;

int __wrap_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info) {
	int ret = __real_rte_eth_dev_info_get(id, info);

	if (!chains)
		info->tx_offload_capa &= ~RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	return ret;
}

/* Alternates between shared and own ports. Every third group is removed with packets pending. */
TEST(repeated_add_and_remove_leaks_nothing) {
	const struct service_group *sg[LIFE_PAIRS];
	struct life_resources resources = {0};
	struct pool_needs reserved = {0};

	life_kit_open(kit, 1, 3);
	sg[0] = life_kit_load_extra(kit, 3, 0, 1, 2, 0);
	sg[1] = life_kit_load_extra(kit, 4, 1, 2, 2, 2);
	for (unsigned cycle = 0; cycle < CYCLES; cycle++) {
		const struct service_group *added = sg[cycle % 2];
		unsigned group;

		if (cycle == SETTLED) {
			resources = life_resources_read();
			reserved = server->pools.reserved;
		}
		life_kit_send_both(kit, LIFE_SHARED, &kit->file[0], 3);
		life_kit_restore_devices(cycle % 2);
		group = life_kit_add(kit, added);
		assert_int_equal(group, 1);
		life_kit_reset_sequences(kit, added->id);
		life_kit_send_both(kit, cycle % 2, added, 5);
		life_kit_send_both(kit, LIFE_SHARED, &kit->file[0], 2);
		life_kit_run(kit, cycle % 3 == 0 ? 20000 : 3 * MS);
		life_kit_remove(kit, group, 0);
		assert_int_equal(server->group_count, 1);
		life_kit_check_totals(kit);
		life_kit_send_both(kit, LIFE_SHARED, &kit->file[0], 1);
		life_kit_run(kit, 2 * MS);
		assert_int_equal(server_pending(server), 0);
	}
	life_resources_check(&resources);
	assert_memory_equal(&server->pools.reserved, &reserved, sizeof(reserved));
	assert_int_equal(server->removed.groups, CYCLES);
	assert_true(server->removed.down.drops[DROP_STOPPED] > 0);
	assert_int_equal(kit->received_up[1], 6 * CYCLES);
	assert_true(kit->received_up[3] > 0 && kit->received_up[4] > 0);
}

/* The reserved buffers of the first group include those of its ports' descriptors. */
TEST(first_group_can_be_removed_and_added) {
	struct pool_needs reserved;
	char why[LIVE_LINE];

	life_kit_open(kit, 1, 3);
	assert_false(server_group_remove(server, 1, 0, why));
	life_kit_restore_devices(1);
	life_kit_add(kit, life_kit_load_extra(kit, 4, 1, 2, 2, 2));
	reserved = server->pools.reserved;
	life_kit_remove(kit, 0, 0);
	life_kit_restore_devices(0);
	assert_int_equal(life_kit_add(kit, &kit->file[0]), 0);
	assert_memory_equal(&server->pools.reserved, &reserved, sizeof(reserved));
	assert_true(server->keys_seconds > 0 && server->keys_seconds < 3600);
}

/* Each direction of each group must have its own crypto queue. */
static void check_crypto_queues(void) {
	const struct crypto_queue *queues[2 * LIFE_IDS];

	for (unsigned q = 0; q < 2 * server->group_count; q++) {
		const struct served_group *g = &server->groups[q / 2];

		queues[q] = q % 2 == 0 ? g->downstream->lower.crypto : g->upstream->r.crypto;
		for (unsigned q2 = 0; q2 < q; q2++)
			assert_ptr_not_equal(queues[q], queues[q2]);
	}
}

/* Groups up to max_groups use exactly the reserved buffers. Ports become shared. */
TEST(max_groups_use_exactly_reserved_buffers) {
	const struct server_pools *pools = &server->pools;
	const unsigned max_groups = LIFE_IDS - 1;

	life_kit_open(kit, 1, max_groups);
	assert_int_equal(server_latency(server, true), 0);
	for (unsigned id = 2; id <= max_groups; id++)
		life_kit_add(kit, life_kit_load_extra(kit, id, LIFE_SHARED, id % 3, (id + 1) % 3,
						      (id + 2) % 3));
	check_crypto_queues();
	assert_memory_equal(&pools->reserved, &pools->max, sizeof(pools->max));
	for (unsigned id = 2; id <= max_groups; id++)
		life_kit_send_both(kit, LIFE_SHARED, &kit->extra[id], 3);
	life_kit_run(kit, 3 * MS);
	life_kit_check_totals(kit);
	for (unsigned id = 2; id <= max_groups; id++)
		assert_int_equal(kit->received_up[id], 3);
}

TEST(counters_survive_removal_of_shared_port) {
	const struct service_group *sg;
	struct life_totals all;

	life_kit_open(kit, 1, 3);
	for (unsigned g = 0; g < 2; g++) {
		sg = life_kit_load_extra(kit, 4 + g, 1, g, 2 - g, 1);
		assert_int_equal(life_kit_add(kit, sg), 1 + g);
		life_kit_send_both(kit, 1, sg, 3);
	}
	sg = life_kit_load_extra(kit, 6, 1, 1, 1, 1); /* not added: its packets are unmatched */
	life_kit_send_bursts(kit, 1, sg, 5);
	life_kit_run(kit, 3 * MS);
	all = life_kit_totals(kit);
	assert_int_equal(all.port_dropped, 5);
	for (unsigned g = 2; g > 0; g--) {
		life_kit_remove(kit, g, 0);
		life_kit_check_totals(kit);
	}
	assert_int_equal(life_kit_totals(kit).port_dropped, 5);
	assert_int_equal(life_kit_totals(kit).port_in, all.port_in);
}

static void check_depi(const struct service_group *sg) {
	uint64_t before = kit->depi_frames;

	life_kit_send_both(kit, LIFE_SHARED, sg, 8);
	life_kit_run(kit, 3 * MS);
	assert_true(kit->depi_frames > before);
}

/* Without chained mbufs in the R-PHY port, DEPI frames are copied, also of added groups. */
TEST(frames_are_copied_without_chained_mbufs) {
	const struct server_pools *pools = &server->pools;
	const struct service_group *sg;

	for (unsigned i = 0; i < 2; i++) {
		chains = i == 1;
		life_kit_open(kit, 1, 2);
		assert_int_equal(pools->linear == NULL, chains);
		check_depi(&kit->file[0]);
		sg = life_kit_load_extra(kit, 3, LIFE_SHARED, 1, 2, 0);
		life_kit_add(kit, sg);
		for (unsigned g = 0; g < 2; g++)
			assert_ptr_equal(server->groups[g].downstream->lower.linear, pools->linear);
		check_depi(sg);
		check_depi(&kit->file[0]);
		assert_int_equal(life_kit_totals(kit).down_out, 24);
	}
}

static struct service_group *added;
static unsigned started; /* number of groups at the start */

static void check_existing_group(void) {
	life_kit_check_traffic(kit);
	assert_int_equal(server_pending(server), 0);
}

static void check_refused(const char *expected) {
	const struct life_resources resources = life_resources_read();
	const struct pool_needs reserved = server->pools.reserved;
	unsigned lists[2] = {0}, group = 77;
	char why[LIVE_LINE] = "";

	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		lists[0] += server->workers[w].entry_count;
	if (server_group_add(server, added, &group, why) || strstr(why, expected) == NULL)
		fail_msg("refusal: \"%s\", expected: \"%s\"", why, expected);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		lists[1] += server->workers[w].entry_count;
	assert_int_equal(lists[0], lists[1]);
	assert_int_equal(group, 77);
	assert_int_equal(server->group_count, started);
	life_resources_check(&resources);
	assert_memory_equal(&server->pools.reserved, &reserved, sizeof(reserved));
	check_existing_group();
}

/* Checks that the group is refused with another value of a member. */
#define REFUSED_WITH(member, value, expected)                  \
	do {                                                   \
		__typeof__(added->member) was = added->member; \
                                                               \
		added->member = (value);                       \
		check_refused(expected);                       \
		added->member = was;                           \
	} while (0)

static void check_each_refusal(void) {
	char *network = added->network.device;

	REFUSED_WITH(id, 1, "service group 1: a group with this ID is in service already");
	REFUSED_WITH(threads.upstream_core, 99,
		     "service group 3: threads.upstream_core: found core 99, allowed: 1-3, the "
		     "cores that have a worker");
	REFUSED_WITH(threads.lower_mac_core, 98, "threads.lower_mac_core: found core 98");
	added->threads.requested.main_core = true;
	REFUSED_WITH(threads.main_core, 1, "threads.main_core: found core 1, allowed: 0, ");
	added->threads.requested.main_core = false;
	REFUSED_WITH(rphy.mtu, 1600, "rphy.mtu");
	REFUSED_WITH(max_frame, 9000, "max_frame");
	REFUSED_WITH(network.device, added->rphy_port.device, "another port's");
	REFUSED_WITH(rphy_port.device, network, "another port's");
	REFUSED_WITH(network.device, (char[]){"net_unknown"}, "cannot be opened");
	REFUSED_WITH(rphy_port.device, (char[]){"net_unknown"}, "cannot be opened");
	REFUSED_WITH(max_queued, 65536, "max_queued");
	REFUSED_WITH(upstream.pending, 100000000, "upstream.held");
	REFUSED_WITH(modems[0].addresses[0], kit->file[0].modems[0].addresses[0],
		     "service groups 1 and 3 both have address 10.1.0.1");
	REFUSED_WITH(upstream_channels[0].session, kit->file[0].upstream_channels[0].session,
		     "service groups 1 and 3 both have session 0x00020101");
}

/* With ports of a single group (1), and with shared ports (2). */
TEST(unsuitable_group_is_refused) {
	for (started = 1; started <= 2; started++) {
		life_kit_open(kit, started, started + 1);
		added = life_kit_load_extra(kit, 3, 0, 1, 2, 0);
		check_existing_group();
		check_each_refusal();
		life_kit_add(kit, added);
		check_existing_group();
	}
}

EACH_TEST(NULL, group_file_teardown)
ALL_TESTS(NULL, fixture_stop)
