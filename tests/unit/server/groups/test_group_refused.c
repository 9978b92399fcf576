/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups that cannot be taken into service, or out of it: it is said why, and nothing is left of the attempt. */
#include "test.h"

#include <string.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>

#include "model/load/loader.h"
#include "platform/large_pages.h"

#include "fixture.h"
#include "life_bench.h"

#define MS 1000000ull
#define PIECE (48u << 10) /* bytes */
#define PIECES 128
#define CHUNKS 8192

static struct life_bench storage, *const bench = &storage;
static struct service_group comes;
static unsigned there; /* groups at the start */

/* The one that is there has its traffic, with nothing lost. */
static void still_serves(void) {
	static uint32_t serial;
	uint64_t before = bench->taken_up[1];

	for (unsigned i = 0; i < 3; i++) {
		assert_true(life_bench_down(bench, 0, &bench->file[0], 200, serial));
		assert_true(life_bench_up(bench, 0, &bench->file[0], serial++));
	}
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
static void what_does_not_fit(void **state) {
	(void)state;
	for (there = 1; there <= 2; there++)
		try_what_does_not_fit();
}

/* A device that is there but is not to be had, as somebody else has started it, is unplugged again. */
static void a_device_that_cannot_be_opened(void **state) {
	char why[LIVE_LINE];
	unsigned group;
	uint16_t id;

	(void)state;
	there = 1;
	life_bench_open(bench, there, there + 1);
	life_bench_load(&comes, 3, 1, 1, 2, 0);
	assert_int_equal(rte_eth_dev_get_port_by_name(comes.rphy_port.device, &id), 0);
	assert_int_equal(rte_eth_dev_start(id), 0);
	assert_false(server_group_add(&bench->server, &comes, &group, why));
	assert_non_null(strstr(why, "ports: a device cannot be opened"));
	assert_int_not_equal(rte_eth_dev_get_port_by_name(comes.rphy_port.device, &id), 0);
	assert_int_not_equal(rte_eth_dev_get_port_by_name(comes.network.device, &id), 0);
	still_serves();
	life_bench_plug(1);
	group = life_bench_add(bench, &comes);
	still_serves();
	assert_true(server_group_remove(&bench->server, group, 0, why));
	life_bench_close(bench);
	service_group_free(&comes);
}

static void places(void **state) {
	struct service_group last;
	char why[LIVE_LINE];
	unsigned group;

	(void)state;
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

/*
 * All memory that DPDK has, of two kinds, where the system backs one by large pages: pieces of both that are given
 * back one after the other, and the rest.
 */
static struct {
	void *list[CHUNKS];
	unsigned count;
} pieces[2], rest;

static int socket_of(unsigned kind) {
	return kind == 0 ? SOCKET_ID_ANY : large_pages_socket();
}

static void take_all(void) {
	for (unsigned kind = 0; kind < ARRAY_COUNT(pieces); kind++) {
		for (unsigned i = 0; i < PIECES; i++) {
			void *p = rte_malloc_socket(NULL, PIECE, 0, socket_of(kind));

			assert_non_null(p);
			pieces[kind].list[pieces[kind].count++] = p;
		}
	}
	for (size_t size = 4u << 20; size >= 64; size /= 2) {
		for (unsigned kind = 0; kind < ARRAY_COUNT(pieces); kind++) {
			void *p;

			while (rest.count < CHUNKS &&
			       (p = rte_malloc_socket(NULL, size, 0, socket_of(kind))) != NULL)
				rest.list[rest.count++] = p;
		}
	}
	assert_true(rest.count < CHUNKS);
}

static void give_back(unsigned kind, unsigned least) {
	while (pieces[kind].count > least)
		rte_free(pieces[kind].list[--pieces[kind].count]);
}

/* One piece more at a time comes back, until it is enough. Returns how often it was not. */
static unsigned attempts(unsigned *group) {
	char why[LIVE_LINE];

	for (unsigned n = 0;; n++) {
		struct life_left left = life_left_now();

		if (server_group_add(&bench->server, &comes, group, why))
			return n;
		assert_int_equal(bench->server.group_count, there);
		life_left_check(&left);
		if (n % 8 == 0)
			still_serves();
		assert_true(n < PIECES);
		give_back(0, PIECES - n - 1);
		give_back(1, PIECES - n - 1);
	}
}

static void try_with_little_memory(void) {
	unsigned group = 77;
	char why[LIVE_LINE];

	life_bench_open(bench, there, there + 1);
	life_bench_load(&comes, 3, 0, 1, 2, 0);
	still_serves();
	take_all();
	assert_true(attempts(&group) > 5);
	still_serves();
	give_back(0, 0);
	give_back(1, 0);
	while (rest.count > 0)
		rte_free(rest.list[--rest.count]);
	assert_true(server_group_remove(&bench->server, group, 0, why));
	still_serves();
	life_bench_close(bench);
	service_group_free(&comes);
}

static void memory_that_runs_out(void **state) {
	(void)state;
	for (there = 1; there <= 2; there++)
		try_with_little_memory();
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_does_not_fit),
		cmocka_unit_test(a_device_that_cannot_be_opened),
		cmocka_unit_test(places),
		cmocka_unit_test(memory_that_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
