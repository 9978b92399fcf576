/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups that cannot be taken into service, or out of it: it is said why, and nothing is left of the attempt. */
#include "test_main.h"

#include <string.h>

#include "model/load/loader.h"

#include "fixture.h"
#include "life_bench.h"

#define MS 1000000ull

static struct life_bench storage, *const bench = &storage;
static struct service_group comes;
static unsigned there; /* groups at the start */

/* The one that is there has its traffic, with nothing lost. */
static void still_serves(void) {
	uint64_t before = bench->taken_up[1];

	life_bench_traffic(bench, LIFE_SHARED, &bench->file[0], 3);
	life_bench_pass(bench, 2 * MS);
	assert_int_equal(bench->taken_up[1], before + 3);
	assert_int_equal(server_held(&bench->server), 0);
	assert_true(server_balanced(&bench->server));
}

static void refused(const char *expected) {
	const struct life_left left = life_left_now();
	const struct pool_needs taken = bench->server.pools.taken;
	unsigned entries[LIFE_WORKERS], group = 77;
	char why[LIVE_LINE] = "";

	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		entries[w] = bench->server.workers[w].entry_count;
	if (server_group_add(&bench->server, &comes, &group, why))
		fail_msg("accepted, and not: %s", expected);
	if (strstr(why, expected) == NULL)
		fail_msg("found: %s", why);
	assert_int_equal(group, 77);
	assert_int_equal(bench->server.group_count, there);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		assert_int_equal(bench->server.workers[w].entry_count, entries[w]);
	life_left_check(&left);
	assert_memory_equal(&bench->server.pools.taken, &taken, sizeof(taken));
	still_serves();
}

/* The same after one change of what comes. */
#define REFUSED_WITH(member, value, expected)                \
	do {                                                 \
		__typeof__(comes.member) was = comes.member; \
                                                             \
		comes.member = (value);                      \
		refused(expected);                           \
		comes.member = was;                          \
	} while (0)

static void try_what_does_not_fit(void) {
	char *network;

	life_bench_open(bench, there, there + 1);
	life_bench_load(&comes, 3, 0, 1, 2, 0);
	still_serves();
	network = comes.network.device;
	REFUSED_WITH(id, 1, "service group 1: is there already");
	REFUSED_WITH(threads.upstream_core, 99,
		     "service group 3: threads.upstream_core: found core 99, allowed: 1-3, the "
		     "cores that have a worker");
	REFUSED_WITH(threads.lower_mac_core, 98, "threads.lower_mac_core: found core 98");
	comes.threads.asked.main_core = true;
	REFUSED_WITH(threads.main_core, 1, "threads.main_core: found core 1, allowed: 0, ");
	comes.threads.asked.main_core = false;
	REFUSED_WITH(rphy.mtu, 1600, "rphy.mtu");
	REFUSED_WITH(max_frame, 9000, "max_frame");
	REFUSED_WITH(network.device, comes.rphy_port.device, "another port's");
	REFUSED_WITH(rphy_port.device, network, "another port's");
	REFUSED_WITH(network.device, (char[]){"net_nobody_knows"}, "cannot be opened");
	REFUSED_WITH(rphy_port.device, (char[]){"net_nobody_knows"}, "cannot be opened");
	REFUSED_WITH(max_queued, 65536, "max_queued");
	REFUSED_WITH(upstream.held, 100000000, "upstream.held");
	REFUSED_WITH(modems[0].addresses[0], bench->file[0].modems[0].addresses[0],
		     "service groups 1 and 3: found address 10.1.0.1 in both");
	REFUSED_WITH(upstream_channels[0].session, bench->file[0].upstream_channels[0].session,
		     "service groups 1 and 3: found session 0x00020101 in both");
	life_bench_add(bench, &comes);
	still_serves();
	life_bench_close(bench);
	service_group_free(&comes);
}

/* On ports that were the first group's own, and on such as are shared. */
TEST(what_does_not_fit) {
	for (there = 1; there <= 2; there++)
		try_what_does_not_fit();
}

TEST(places) {
	struct service_group last;
	char why[LIVE_LINE];
	unsigned group;

	life_bench_open(bench, 1, 2);
	life_bench_load(&comes, 3, 0, 1, 2, 0);
	life_bench_load(&last, 4, 0, 1, 2, 0);
	assert_false(server_group_remove(&bench->server, 0, 0, why));
	assert_non_null(strstr(why, "at least one"));
	assert_false(server_group_remove(&bench->server, 1, 0, why));
	assert_int_equal(life_bench_add(bench, &comes), 1);
	assert_false(server_group_add(&bench->server, &last, &group, why));
	assert_non_null(strstr(why, "max_groups"));
	assert_true(server_group_remove(&bench->server, 0, 0, why)); /* the one of the file */
	assert_false(bench->server.groups[0].there);
	assert_int_equal(life_bench_add(bench, &last), 0); /* its place */
	assert_true(server_group_remove(&bench->server, 1, 0, why));
	assert_int_equal(bench->server.group_count, 1);
	assert_false(server_group_remove(&bench->server, 0, 0, why));
	life_bench_close(bench);
	service_group_free(&comes);
	service_group_free(&last);
}

ALL_TESTS(NULL, fixture_stop)
