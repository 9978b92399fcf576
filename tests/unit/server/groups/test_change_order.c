/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The order of the steps of a change on a shared port, with packets between any two of them: the port leads an address to
 * a group only while the group's own tables know it.
 */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "server/changes.h"

#include "life_bench.h"

#define MS 1000000ull
#define PACKET 200
#define BATCH 32 /* packets that a ring of the far end takes at a time */

static struct life_bench storage, *const bench = &storage;
static struct ip_address addresses[SG_MAX_MODEM_ADDRESSES];
static uint32_t serial; /* even: of the first modem */

/* A packet to each address. Returns how many the group sent on; none is dropped by the group. */
static uint64_t send_to_all(void) {
	struct service_group sg = bench->file[0];
	struct modem modem = sg.modems[0];
	struct life_totals before = life_bench_totals(bench), after;

	sg.modems = &modem;
	for (unsigned a = 0; a < SG_MAX_MODEM_ADDRESSES; a++, serial += 2) {
		modem.addresses = &addresses[a];
		assert_true(life_bench_down(bench, LIFE_SHARED, &sg, PACKET, serial));
		if (a % BATCH == BATCH - 1)
			life_bench_pass(bench, 2 * MS);
	}
	after = life_bench_totals(bench);
	assert_int_equal(after.down_dropped, before.down_dropped);
	assert_int_equal(after.down_out - before.down_out + after.port_dropped -
				 before.port_dropped,
			 SG_MAX_MODEM_ADDRESSES);
	return after.down_out - before.down_out;
}

/* The first modem has the first `count` addresses from now on. Returns after how many steps packets were sent. */
static unsigned change_addresses(size_t count) {
	struct served_group *g = &bench->server.groups[0];
	struct service_group next = bench->file[0];
	struct modem modems[2] = {next.modems[0], next.modems[1]};
	struct live_changes changes;
	struct server_change *c = server_change_open(&bench->server);
	char why[LIVE_LINE];
	unsigned steps = 0;

	next.modems = modems;
	modems[0].addresses = addresses;
	modems[0].address_count = count;
	modems[0].cpe_limit = SG_MAX_MODEM_ADDRESSES;
	assert_non_null(c);
	if (!live_difference(&g->live, &next, &changes, why) ||
	    !server_change_add(c, 0, &changes, why))
		fail_msg("%s", why);
	for (; !server_change_round(c); steps++)
		send_to_all();
	server_change_close(c);
	return steps;
}

static void addresses_come_and_go_between_packets(void **state) {
	(void)state;
	life_bench_open(bench, 2, 2);
	addresses[0] = bench->file[0].modems[0].addresses[0];
	for (unsigned a = 1; a < SG_MAX_MODEM_ADDRESSES; a++) {
		addresses[a] = addresses[0];
		addresses[a].bytes[2] = 7;
		addresses[a].bytes[3] = (uint8_t)a;
	}
	assert_int_equal(send_to_all(), 1);
	for (unsigned i = 0; i < 3; i++) {
		assert_true(change_addresses(SG_MAX_MODEM_ADDRESSES) > 0);
		assert_int_equal(send_to_all(), SG_MAX_MODEM_ADDRESSES);
		assert_true(change_addresses(1) > 0);
		assert_int_equal(send_to_all(), 1);
	}
	life_bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_come_and_go_between_packets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
