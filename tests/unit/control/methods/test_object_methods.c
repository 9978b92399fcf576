/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for changes while what others have removed still leaves. */
#include "asking_bench.h"
#include "test_main.h"

#define FIRST "{group: 1, modem: {mac: '02:01:00:00:00:01'"
#define SECOND "{group: 1, modem: {mac: '02:01:00:00:00:02'"

/* It is answered now, and well. Returns the generation. */
static int64_t answered(struct rpc_work *w) {
	json_t *answer = ended(w);
	int64_t generation = number(answer, "result.generation");

	json_decref(answer);
	return generation;
}

/* As if workers were at what another change has removed. */
static void hold(bool on) {
	static const char something;

	bench->server.leaves = on ? (const void *)&something : NULL;
}

static unsigned leaving(void) {
	return server_changes_leaving(&bench->server);
}

/* What is in service is answered though the remains of it leave; another object need not wait for them. */
TEST(others_go_on) {
	int64_t first, second;

	hold(true);
	first = answered(begun("modem.set", FIRST ", max_aggregate_rate: '50 Mbps'}}"));
	second = answered(begun("modem.set", SECOND ", max_aggregate_rate: '60 Mbps'}}"));
	assert_int_equal(second, first + 1);
	assert_int_equal(leaving(), 2);
	assert_int_equal(bench->server.groups[0].live.sg.modems[0].aggregate_rate, 50000000);
	hold(false);
	server_changes_go_on(&bench->server);
	assert_int_equal(leaving(), 0);
}

/* The same object waits, and is what was asked for last. */
TEST(the_same_waits) {
	struct rpc_work *again;

	hold(true);
	answered(begun("modem.set", FIRST ", max_aggregate_rate: '70 Mbps'}}"));
	again = begun("modem.set", FIRST ", max_aggregate_rate: '80 Mbps'}}");
	for (int i = 0; i < 3; i++)
		assert_false(rpc_go_on(again));
	assert_int_equal(leaving(), 1);
	answered(begun("modem.set", SECOND ", max_aggregate_rate: '90 Mbps'}}"));
	assert_false(rpc_go_on(again));
	hold(false);
	answered(again);
	assert_int_equal(bench->server.groups[0].live.sg.modems[0].aggregate_rate, 80000000);
}

/* What goes has left when it is answered, and who asks for its place in between gets it then. */
TEST(what_goes_has_left) {
	struct live_group *live = &bench->server.groups[0].live;
	struct rpc_work *goes, *comes;

	server_changes_settle(&bench->server);
	hold(true);
	goes = begun("modem.remove", SECOND "}}");
	assert_false(rpc_go_on(goes));
	assert_int_equal(live->modems, 1); /* taken */
	assert_false(rpc_go_on(goes));
	comes = begun("modem.add",
		      SECOND ", addresses: ['10.9.9.9'], bonding_group: 2, security: {said: 2, "
			     "cipher: 'none'}, service_flows: [{id: 2, buffer: '200 kB'}]}}");
	for (int i = 0; i < 3; i++)
		assert_false(rpc_go_on(comes));
	hold(false);
	answered(goes);
	assert_int_equal(leaving(), 0);
	answered(comes);
	assert_int_equal(live->modems, 2);
}

/* What cannot be is refused, though later than what leaves has left. */
TEST(refused_in_the_end) {
	refused("modem.set", FIRST ", bonding_group: 99}}", RPC_REFUSED,
		"modem.bonding_group: found \"99\", allowed: the id of a bonding group in service");
}

ALL_TESTS(begin, end)
