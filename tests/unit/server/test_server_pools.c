/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the sizes of buffer pools for the groups of the start and for max_groups. */
#include "test_main.h"

#include "downstream/downstream.h"
#include "model/load/loader.h"
#include "platform/pool.h"
#include "server/layout.h"
#include "server/pools.h"

#include "fixture.h"
#include "life_kit.h"

#define MORE 3 /* groups that may be added */
#define SEGMENTS 7

static struct service_group sg;
static struct server_config config = {.groups = &sg, .group_count = 1, .max_groups = 1 + MORE};
static struct server_ports ports;

static int load_config(void **state) {
	fixture_start_eal(512);
	life_kit_load(&sg, 1, LIFE_SHARED, 0, 0, 0);
	sg.rphy.max_segments = SEGMENTS;
	assert_int_equal(server_ports_find(&ports, &config), 0);
	return 0;
}

static int free_config(void **state) {
	service_group_free(&sg);
	return fixture_stop(state);
}

TEST(group_needs_cover_its_queue_limits) {
	struct pool_needs n = server_group_needs(&config, &sg);
	unsigned queues = server_queued_max(&config, &sg), ring = server_hand_over_max(&config);

	assert_true(n.packets >= queues + ring + DS_LOWER_LIMIT + 2 * SEGMENTS);
	assert_true(n.packets <= queues + ring + DS_LOWER_LIMIT + 2 * SEGMENTS + PIPELINE_BURST);
	assert_true(n.depi_frames >= DS_LOWER_LIMIT + 2);
	assert_true(n.uepi > 0 && n.frames > 0 && n.pieces > 0);
}

TEST(pools_include_caches_of_threads) {
	struct server_pools p = {0};
	unsigned workers[2], packets[2], uepi[2];

	for (unsigned i = 0; i < 2; i++) {
		struct layout layout;

		sg.threads.upstream_core = sg.threads.upper_mac_core + i;
		assert_int_equal(layout_make(&layout, &config), 0);
		workers[i] = layout.worker_count;
		assert_int_equal(server_pools_create(&p, &config, &ports), 0);
		packets[i] = p.packets->size - p.max.packets;
		uepi[i] = p.uepi->size - p.max.uepi - p.max.frames;
		server_pools_free(&p);
	}
	assert_int_equal(workers[1] - workers[0], 1);
	assert_int_equal(packets[0], (workers[0] + 1) * POOL_THREAD_BUFFERS);
	assert_int_equal(packets[1], (workers[1] + 1) * POOL_THREAD_BUFFERS);
	assert_int_equal(uepi[1] - uepi[0], 2 * POOL_THREAD_BUFFERS);
}

/* If no group of the start has an upstream, only groups without one may be added. */
TEST(pools_without_upstream_refuse_upstream_group) {
	struct service_group down = sg;
	struct server_config without = {.groups = &down, .group_count = 1, .max_groups = 3};
	struct pool_needs n;
	struct server_pools p = {0};

	down.upstream_channel_count = 0;
	assert_int_equal(server_pools_create(&p, &without, &ports), 0);
	assert_null(p.uepi);
	n = server_group_needs(&without, &down);
	assert_int_equal(n.uepi + n.frames + n.pieces, 0);
	assert_null(server_pools_reserve(&p, &down, &n));
	n = server_group_needs(&without, &sg);
	assert_string_equal(server_pools_reserve(&p, &sg, &n),
			    "upstream_channels: no group had an upstream at the start");
	server_pools_free(&p);
}

/* A pool whose name is in use cannot be created. With a large MTU, packets have a pool. */
TEST(failed_pool_creation_frees_all) {
	static const char *const names[] = {"packets", "depi_headers", "depi_fragments",
					    "uepi",    "frames",       "pieces"};
	struct server_pools all = {0};

	sg.rphy.mtu = 9000;
	/* memory suffices for all */
	assert_int_equal(server_pools_create(&all, &config, &ports), 0);
	server_pools_free(&all);
	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		struct rte_mempool *other = fixture_pool_create(names[i], 1, FIXTURE_BUFFER_SIZE);
		struct server_pools p = {0};

		assert_int_equal(server_pools_create(&p, &config, &ports), -1);
		server_pools_free(&p);
		fixture_pool_free(other);
	}
	sg.rphy.mtu = 1500;
}

ALL_TESTS(load_config, free_config)
