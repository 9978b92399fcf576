/* SPDX-License-Identifier: BSD-3-Clause */
/* Each call that may fail does so once in each method that changes a server: the client is told the truth. */
#include "test.h"

#include <string.h>
#include <unistd.h>

#include <jansson.h>

#include "methods/methods.h"
#include "model/live/group_json.h"
#include "model/loader.h"
#include "server/changes.h"

#include "fault_runs.h"
#include "fixture.h"

#define MS 1000000ull

static struct life_bench storage, *const bench = &storage;
static struct reload reload;
static struct methods methods;
static struct rpc rpc;
static char group_path[] = "/tmp/faults-group-XXXXXX";

struct request {
	const char *method, *params;
};

struct change {
	struct request run, undo;
};

static void file_write(const char *path, const char *text) {
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

/* The answer; NULL: the client is told that there is no memory for its request. */
static char *answer_to(const struct request *r) {
	static char text[16384];
	struct rpc_work *w;

	snprintf(text, sizeof(text),
		 "{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":%s,\"id\":1}", r->method,
		 r->params);
	w = rpc_begin(&rpc, text, strlen(text));
	if (w == NULL)
		return NULL;
	while (!rpc_go_on(w))
		life_bench_pass(bench, MS);
	return rpc_end(w);
}

static enum outcome outcome_of(const struct request *r) {
	char *answer = answer_to(r);
	enum outcome outcome = OUTCOME_REFUSED;

	if (answer != NULL && strstr(answer, "may have been done") != NULL)
		outcome = OUTCOME_UNKNOWN;
	else if (answer != NULL &&
		 (strstr(answer, "\"result\"") != NULL || strstr(answer, "it was done") != NULL))
		outcome = OUTCOME_DONE;
	free(answer);
	return outcome;
}

static enum outcome run(void *context) {
	const struct change *c = context;

	return outcome_of(&c->run);
}

static void must(const struct request *r) {
	char *answer = answer_to(r);

	if (answer == NULL || strstr(answer, "\"result\"") == NULL)
		fail_msg("%s: %s", r->method, answer);
	free(answer);
}

static void undo(void *context) {
	const struct change *c = context;

	must(&c->undo);
}

/* Without the answer to the one in whose middle it failed. */
static void serves(void) {
	static uint32_t serial;
	uint64_t before = bench->taken_up[1];

	for (unsigned i = 0; i < 2; i++)
		assert_true(life_bench_up(bench, 0, &bench->file[0], serial++));
	life_bench_pass(bench, 2 * MS);
	assert_int_equal(bench->taken_up[1], before + 2);
	assert_true(server_balanced(&bench->server));
}

static void try(const struct change *c) {
	struct operation o = {c->run.method, run, undo, serves, NULL, false};

	o.context = (void *)(uintptr_t)c;
	if (strcmp(c->run.method, "group.drain") == 0)
		o.serves = NULL;
	must(&c->run); /* whether it can be done at all */
	undo(o.context);
	assert_true(every_fault(&o, &bench->server) > 2);
}

/* A file has no port that the group has not. */
static json_t *group_of(const struct live_group *live) {
	json_t *group = group_json(live, true), *ports = json_object_get(group, "ports");

	if (json_object_size(json_object_get(ports, "control")) == 0)
		json_object_del(ports, "control");
	return group;
}

/* The group that comes, as a file. */
static void files_make(void) {
	struct service_group sg;
	char why[LIVE_LINE], *text;
	json_t *json;
	unsigned group;

	life_bench_load(&sg, 3, LIFE_SHARED, 1, 2, 0);
	group = life_bench_add(bench, &sg);
	json = group_of(&bench->server.groups[group].live);
	text = json_dumps(json, 0);
	close(mkstemp(group_path));
	file_write(group_path, text);
	free(text);
	json_decref(json);
	assert_true(server_group_remove(&bench->server, group, 0, why));
	service_group_free(&sg);
}

static int begin(void **state) {
	(void)state;
	faults_jansson();
	life_bench_open(bench, 2, 5);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		assert_int_equal(worker_reserve(&bench->server.workers[w], 200), 0);
	methods = (struct methods){.server = &bench->server, .reload = &reload};
	rpc = methods_rpc(&methods);
	files_make();
	reload_open(&reload, &bench->server, "/no/such/file", &(struct server_devices){0});
	return 0;
}

static int end(void **state) {
	(void)state;
	server_changes_settle(&bench->server);
	reload_free(&reload);
	unlink(group_path);
	life_bench_close(bench);
	return fixture_stop(state);
}

#define FIRST "\"mac\": \"02:01:00:00:01:01\""
#define SECOND "\"mac\": \"02:01:00:00:01:02\""
#define NEW "\"mac\": \"02:01:00:00:01:09\""
#define MODEM(name, more) "{\"group\": 1, \"modem\": {" name more "}}"
#define NEW_MODEM                                                                             \
	", \"addresses\": [\"10.1.0.9\", \"2001:db8::9\"], \"bonding_group\": 1, "            \
	"\"filter_groups\": [1], \"security\": {\"said\": 9, \"cipher\": \"aes-128\", "       \
	"\"key\": \"000102030405060708090a0b0c0d0e0f\", "                                     \
	"\"iv\": \"101112131415161718191a1b1c1d1e1f\", \"key_sequence\": 5}, "                \
	"\"classifiers\": [{\"family\": \"ipv4\", \"protocol\": "                             \
	"\"udp\", "                                                                           \
	"\"service_flow\": 91}], "                                                            \
	"\"service_flows\": [{\"id\": 90, \"dsid\": 9}, {\"id\": 91, \"dsid\": 10}], "        \
	"\"upstream_service_flows\": [{\"id\": 92, \"sid_clusters\": [{\"id\": 0, \"sids\": " \
	"[{\"channel\": 1, \"sid\": 9}]}]}]"

static void modems(void **state) {
	static const struct request add = {"modem.add", MODEM(NEW, NEW_MODEM)},
				    take = {"modem.remove", MODEM(NEW, "")};
	static const struct change all[] = {
		{add, take},
		{{"modem.set", MODEM(SECOND, ", \"max_aggregate_rate\": \"50 Mbps\"")},
		 {"modem.set", MODEM(SECOND, ", \"max_aggregate_rate\": null")}},
	};
	static const struct change removal = {take, add};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		try(&all[i]);
	must(&add);
	try(&removal);
	must(&take);
}

#define SA "{\"group\": 1, \"said\": 1}"

/* The modem as it is before the step is what it becomes again. */
static void key_step(const char *method, const char *params) {
	json_t *group = group_json(&bench->server.groups[0].live, true);
	json_t *modem = json_array_get(json_object_get(group, "modems"), 0);
	json_t *given = json_pack("{s:i, s:O}", "group", 1, "modem", modem);
	char *text = json_dumps(given, 0);
	const struct change step = {{method, params}, {"modem.replace", text}};

	try(&step);
	must(&step.run);
	free(text);
	json_decref(given);
	json_decref(group);
}

static void keys(void **state) {
	(void)state;
	key_step("key.install", "{\"group\": 1, \"said\": 1, \"key\": "
				"\"ff0102030405060708090a0b0c0d0e0f\", "
				"\"iv\": \"ff1112131415161718191a1b1c1d1e1f\"}");
	key_step("key.use", SA);
	key_step("key.remove", SA);
}

#define OBJECT(name, more) "{\"group\": 1, \"" name "\": {\"id\": 7" more "}}"

static void objects(void **state) {
	static const struct change all[] = {
		{{"channel.add", OBJECT("channel", ", \"type\": \"ofdm\", \"rate\": \"1 Gbps\", "
						   "\"session\": 77")},
		 {"channel.remove", OBJECT("channel", "")}},
		{{"upstream_channel.add",
		  OBJECT("upstream_channel",
			 ", \"type\": \"ofdma\", \"rate\": \"1 Gbps\", \"session\": 78, "
			 "\"request_session\": 79")},
		 {"upstream_channel.remove", OBJECT("upstream_channel", "")}},
		{{"bonding_group.add", OBJECT("bonding_group", ", \"channels\": [1]")},
		 {"bonding_group.remove", OBJECT("bonding_group", "")}},
		{{"filter_group.add",
		  OBJECT("filter_group",
			 ", \"rules\": [{\"family\": \"ipv4\", \"action\": \"deny\", \"protocol\": "
			 "\"tcp\", \"destination_ports\": 25}]")},
		 {"filter_group.remove", OBJECT("filter_group", "")}},
		{{"channel.set",
		  "{\"group\": 1, \"channel\": {\"id\": 1, \"rate\": \"700 Mbps\"}}"},
		 {"channel.set", "{\"group\": 1, \"channel\": {\"id\": 1, \"rate\": \"1 Gbps\"}}"}},
		{{"group.set", "{\"group\": 1, \"values\": {\"rate_limit\": \"900 Mbps\"}}"},
		 {"group.set", "{\"group\": 1, \"values\": {\"rate_limit\": null}}"}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		try(&all[i]);
}

static void groups(void **state) {
	char params[64];
	const struct request add = {"group.add", params},
			     take = {"group.remove", "{\"group\": 3, \"limit\": \"1ms\"}"};
	const struct change comes = {add, take}, goes = {take, add};
	static const struct change rests = {
		{"group.drain", "{\"group\": 2, \"limit\": \"1ms\"}"},
		{"group.resume", "{\"group\": 2}"},
	};

	(void)state;
	snprintf(params, sizeof(params), "{\"file\": \"%s\"}", group_path);
	try(&comes);
	must(&add);
	try(&goes);
	must(&take);
	try(&rests);
}

static void workers_and_measures(void **state) {
	static const struct change all[] = {
		{{"worker.drain", "{\"core\": 1, \"to\": 2}"}, {"worker.resume", "{\"core\": 1}"}},
		{{"measure.set", "{\"latency\": true, \"cycles\": false}"},
		 {"measure.set", "{\"latency\": false, \"cycles\": true}"}},
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		try(&all[i]);
}

/* A request is compared with the other groups of its ports, as a file is. */
static void what_another_group_has(void **state) {
	static const struct request taken = {
		"channel.add", OBJECT("channel", ", \"type\": \"ofdm\", \"rate\": \"1 Gbps\", "
						 "\"session\": 66049")};
	char *answer = answer_to(&taken), params[64];
	const struct request add = {"group.add", params};
	const struct live_group *live = &bench->server.groups[0].live;
	json_t *json;
	char *text;

	(void)state;
	assert_int_equal(bench->server.groups[1].sg->channels[0].session, 66049);
	assert_non_null(strstr(answer,
			       "channel.session: found 0x00010201 again, allowed: it in one "
			       "group of the port net_ring_life_rphy0_0"));
	free(answer);
	snprintf(params, sizeof(params), "{\"file\": \"%s\"}", group_path);
	json = group_of(live);
	json_object_set_new(json, "service_group", json_integer(3));
	text = json_dumps(json, 0);
	file_write(group_path, text);
	answer = answer_to(&add);
	assert_non_null(strstr(answer, "channel.session: found 0x00010101 again"));
	free(answer);
	free(text);
	json_decref(json);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(modems),
		cmocka_unit_test(keys),
		cmocka_unit_test(objects),
		cmocka_unit_test(groups),
		cmocka_unit_test(workers_and_measures),
		cmocka_unit_test(what_another_group_has),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
