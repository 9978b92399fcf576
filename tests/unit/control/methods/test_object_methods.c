/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for changes while what others have removed still leaves. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "control/methods/methods.h"
#include "server/changes.h"

#include "groups_bench.h"
#include "rpc_answer.h"

#define FIRST "\"group\": 1, \"modem\": {\"mac\": \"02:01:00:00:00:01\""
#define SECOND "\"group\": 1, \"modem\": {\"mac\": \"02:01:00:00:00:02\""

static const struct groups_threads threads[] = {{1, 1, 1}};
static struct groups_bench storage, *const bench = &storage;
static struct reload reload;
static struct methods methods;
static struct rpc rpc;

static int begin(void **state) {
	(void)state;
	groups_bench_config(bench, 1, threads);
	groups_bench_open(bench);
	reload_open(&reload, &bench->server, "/no/such/file", &(struct server_devices){0});
	methods = (struct methods){.server = &bench->server, .reload = &reload};
	rpc = methods_rpc(&methods);
	return 0;
}

static int end(void **state) {
	(void)state;
	server_changes_settle(&bench->server);
	reload_free(&reload);
	groups_bench_close(bench);
	return 0;
}

static struct rpc_work *ask(const char *method, const char *params) {
	char text[512];

	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":{%s},\"id\":1}", method,
		 params);
	return rpc_begin(&rpc, text, strlen(text));
}

/* It is answered now, and well. Returns the generation. */
static int64_t answered(struct rpc_work *w) {
	json_t *answer;
	int64_t generation;
	char *text;

	while (!rpc_go_on(w))
		assert_false(rpc_waits(w));
	text = rpc_answer(w);
	answer = json_loads(text, 0, NULL);
	assert_non_null(json_object_get(answer, "result"));
	generation = json_integer_value(
		json_object_get(json_object_get(answer, "result"), "generation"));
	json_decref(answer);
	free(text);
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
static void others_go_on(void **state) {
	int64_t first, second;

	(void)state;
	hold(true);
	first = answered(ask("modem.set", FIRST ", \"max_aggregate_rate\": \"50 Mbps\"}"));
	second = answered(ask("modem.set", SECOND ", \"max_aggregate_rate\": \"60 Mbps\"}"));
	assert_int_equal(second, first + 1);
	assert_int_equal(leaving(), 2);
	assert_int_equal(bench->server.groups[0].live.sg.modems[0].aggregate_rate, 50000000);
	hold(false);
	server_changes_go_on(&bench->server);
	assert_int_equal(leaving(), 0);
}

/* The same object waits, and is what was asked for last. */
static void the_same_waits(void **state) {
	struct rpc_work *again;

	(void)state;
	hold(true);
	answered(ask("modem.set", FIRST ", \"max_aggregate_rate\": \"70 Mbps\"}"));
	again = ask("modem.set", FIRST ", \"max_aggregate_rate\": \"80 Mbps\"}");
	for (int i = 0; i < 3; i++)
		assert_false(rpc_go_on(again));
	assert_int_equal(leaving(), 1);
	answered(ask("modem.set", SECOND ", \"max_aggregate_rate\": \"90 Mbps\"}"));
	assert_false(rpc_go_on(again));
	hold(false);
	answered(again);
	assert_int_equal(bench->server.groups[0].live.sg.modems[0].aggregate_rate, 80000000);
}

/* What goes has left when it is answered, and who asks for its place in between gets it then. */
static void what_goes_has_left(void **state) {
	struct live_group *live = &bench->server.groups[0].live;
	struct rpc_work *goes, *comes;

	(void)state;
	server_changes_settle(&bench->server);
	hold(true);
	goes = ask("modem.remove", SECOND "}");
	assert_false(rpc_go_on(goes));
	assert_int_equal(live->modems, 1); /* taken */
	assert_false(rpc_go_on(goes));
	comes = ask("modem.add",
		    SECOND ", \"addresses\": [\"10.9.9.9\"], \"bonding_group\": 2, "
			   "\"security\": {\"said\": 2, \"cipher\": \"none\"}, "
			   "\"service_flows\": [{\"id\": 2, \"buffer\": \"200 kB\"}]}");
	for (int i = 0; i < 3; i++)
		assert_false(rpc_go_on(comes));
	hold(false);
	answered(goes);
	assert_int_equal(leaving(), 0);
	answered(comes);
	assert_int_equal(live->modems, 2);
}

/* What cannot be is refused, though later than what leaves has left. */
static void refused_in_the_end(void **state) {
	struct rpc_work *w;
	char *text;

	(void)state;
	w = ask("modem.set", FIRST ", \"bonding_group\": 99}");
	while (!rpc_go_on(w))
		assert_false(rpc_waits(w));
	text = rpc_answer(w);
	assert_non_null(strstr(text, "bonding_group: found \\\"99\\\""));
	free(text);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(others_go_on),
		cmocka_unit_test(the_same_waits),
		cmocka_unit_test(what_goes_has_left),
		cmocka_unit_test(refused_in_the_end),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
