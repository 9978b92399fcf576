/* SPDX-License-Identifier: BSD-3-Clause */
/* Each call that may fail does so once in each method of the control socket: the client is told the truth. */
#include "fault_methods.h"
#include "test_main.h"

#define SECOND "mac: '02:01:00:00:01:02'"
#define NEW "mac: '02:01:00:00:01:09'"
#define NEW_MODEM(n)                                                                             \
	"addresses: ['10.1.0." n "', '2001:db8::" n "'], bonding_group: 1, filter_groups: [1], " \
	"security: {said: " n ", cipher: aes-128, key: '0" n "0102030405060708090a0b0c0d0e0f', " \
	"iv: '101112131415161718191a1b1c1d1e1f', key_sequence: 5}, "                             \
	"classifiers: [{family: ipv4, protocol: udp, service_flow: 91}], "                       \
	"service_flows: [{id: 90, dsid: " n "}, {id: 91, dsid: 10}], upstream_service_flows: "   \
	"[{id: 92, sid_clusters: [{id: 0, sids: [{channel: 1, sid: " n "}]}]}]"
#define SA "{group: 1, said: 1}"

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

TEST(keys) {
	key_step("key.install", "{group: 1, said: 1, key: ff0102030405060708090a0b0c0d0e0f, "
				"iv: ff1112131415161718191a1b1c1d1e1f}");
	key_step("key.use", SA);
	key_step("key.remove", SA);
}

/* An object of group 1 that no other one needs: its keys, and what is another one, or what changes it and back. */
struct object {
	const char *kind, *id, *keys, *others, *set, *reset;
};

#define CHANNEL "type: ofdm, rate: '1 Gbps', session: "
#define UPSTREAM "type: ofdma, rate: '1 Gbps', request_session: 79, session: "
#define DENY(port) \
	"rules: [{family: ipv4, action: deny, protocol: tcp, destination_ports: " port "}]"

static const struct object all_objects[] = {
	{"modem", NEW, NEW_MODEM("9"), NEW_MODEM("8"), "max_aggregate_rate: '50 Mbps'",
	 "max_aggregate_rate: null"},
	{"channel", "id: 7", CHANNEL "77", CHANNEL "80", "rate: '700 Mbps'", "rate: '1 Gbps'"},
	{"upstream_channel", "id: 7", UPSTREAM "78", UPSTREAM "81", "rate: '700 Mbps'",
	 "rate: '1 Gbps'"},
	{"bonding_group", "id: 7", "channels: [1]", "channels: [1, 2]", "channels: [2]",
	 "channels: [1]"},
	{"filter_group", "id: 7", DENY("25"), DENY("26"), DENY("27"), DENY("25")},
};

struct object_request {
	char method[40], params[2048];
};

static struct request object_request(const struct object *o, const char *action, const char *keys,
				     struct object_request *r) {
	snprintf(r->method, sizeof(r->method), "%s.%s", o->kind, action);
	snprintf(r->params, sizeof(r->params), "{group: 1, %s: {%s%s%s}}", o->kind, o->id,
		 *keys != '\0' ? ", " : "", keys);
	return (struct request){r->method, r->params};
}

/* The names of methods live on. */
static void try_object(const struct object *o, struct object_request r[6]) {
	const struct request add = object_request(o, "add", o->keys, &r[0]),
			     take = object_request(o, "remove", "", &r[1]);
	const struct change comes = {add, take}, goes = {take, add};
	const struct change replaced = {object_request(o, "replace", o->others, &r[2]),
					object_request(o, "replace", o->keys, &r[3])};
	const struct change set = {object_request(o, "set", o->set, &r[4]),
				   object_request(o, "set", o->reset, &r[5])};

	try(&comes);
	must(&add);
	try(&replaced);
	try(&set);
	try(&goes);
	must(&take);
}

TEST(objects) {
	static struct object_request requests[ARRAY_COUNT(all_objects)][6];

	for (size_t i = 0; i < ARRAY_COUNT(all_objects); i++)
		try_object(&all_objects[i], requests[i]);
}

TEST(what_is_in_use) {
	static const struct change all[] = {
		{{"modem.set", "{group: 1, modem: {" SECOND ", max_aggregate_rate: '50 Mbps'}}"},
		 {"modem.set", "{group: 1, modem: {" SECOND ", max_aggregate_rate: null}}"}},
		{{"channel.set", "{group: 1, channel: {id: 1, rate: '700 Mbps'}}"},
		 {"channel.set", "{group: 1, channel: {id: 1, rate: '1 Gbps'}}"}},
		{{"group.set", "{group: 1, values: {rate_limit: '900 Mbps'}}"},
		 {"group.set", "{group: 1, values: {rate_limit: null}}"}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		try(&all[i]);
}

/* One step, then the other one from where the first leads to, and back. */
static void try_both(const struct request *one, const struct request *other) {
	const struct change there = {*one, *other}, back = {*other, *one};

	try(&there);
	must(one);
	try(&back);
	must(other);
}

TEST(groups) {
	char params[96];
	const struct request add = {"group.add", params},
			     take = {"group.remove", "{group: 3, limit: 1ms}"};
	static const struct request drain = {"group.drain", "{group: 2, limit: 1ms}"},
				    resume = {"group.resume", "{group: 2}"};

	snprintf(params, sizeof(params), "{file: '%s'}", group_path);
	try_both(&add, &take);
	try_both(&drain, &resume);
}

TEST(workers_and_measures) {
	static const struct request drain = {"worker.drain", "{core: 1, to: 2}"},
				    resume = {"worker.resume", "{core: 1}"};
	static const struct change measures = {{"measure.set", "{latency: true, cycles: false}"},
					       {"measure.set", "{latency: false, cycles: true}"}};

	try_both(&drain, &resume);
	try(&measures);
}

/* The governor has what the server has, whatever failed. */
static void power_is_undone(void *context) {
	undo(context);
	assert_memory_equal(power_config_of(methods.power), &bench->server.power,
			    sizeof(bench->server.power));
}

TEST(frequencies) {
	static const struct change c = {
		{"power.set", "{policy: saving, idle: spin, empty_rounds: 7, longest_pause_us: 30, "
			      "latency_us: 90, transition_us: 5, queues: false}"},
		{"power.set", "{policy: none, idle: auto, empty_rounds: 32, longest_pause_us: 20, "
			      "latency_us: 100, transition_us: 50, queues: true}"}};
	const struct power_setup place = {.by_hand = true};
	const struct operation o = {
		"power.set", run, power_is_undone, serves, (void *)(uintptr_t)&c, false, false};

	bench->server.power.driver = POWER_DRIVER_SIMULATED;
	methods.power = power_create(&bench->server, &place);
	assert_non_null(methods.power);
	try_operation(&o);
	try_reading("power.get", "{}");
	power_free(methods.power);
	methods.power = NULL;
}

static enum outcome reload_other(void *context) {
	reload.path = other_path;
	return run(context);
}

static void reload_served(void *context) {
	reload.path = served_path;
	undo(context);
}

static void files_of_server_write(void) {
	json_t *first = group_of(&bench->server.groups[0].live);
	json_t *second = group_of(&bench->server.groups[1].live);
	json_t *file =
		json_pack("{s:i, s:[o, o]}", "max_groups", 5, "service_groups", first, second);

	assert_int_equal(json_dump_file(file, served_path, 0), 0);
	json_object_set_new(first, "rate_limit", json_string("900 Mbps"));
	json_object_set_new(json_array_get(json_object_get(second, "modems"), 0),
			    "max_aggregate_rate", json_string("50 Mbps"));
	json_array_remove(json_object_get(second, "modems"), 1);
	assert_int_equal(json_dump_file(file, other_path, 0), 0);
	json_decref(file);
}

/* What differs in the second file are values, and a modem less. */
TEST(reloads) {
	static const struct request r = {"config.reload", "{}"};
	static const struct change c = {r, r};
	const struct operation o = {
		r.method, reload_other, reload_served, serves, (void *)(uintptr_t)&c, true, false};

	files_of_server_write();
	reload.path = served_path;
	must(&r);
	try_operation(&o);
}

static void leave(void *context) {
	(void)context;
	event_journal_leave(methods.events.journal, &subscriber);
}

/* A client that is told that it has not subscribed has not. */
static enum outcome subscribe(void *context) {
	enum outcome outcome = run(context);

	if (outcome == OUTCOME_UNKNOWN)
		return subscriber.on ? OUTCOME_DONE : OUTCOME_REFUSED;
	assert_int_equal(outcome == OUTCOME_DONE, subscriber.on);
	return outcome;
}

TEST(subscribers) {
	static const struct change c = {{"events.subscribe", "{keys: true, groups: [1, 2]}"},
					{NULL, NULL}};
	const struct operation o = {c.run.method,	   subscribe, leave, NULL,
				    (void *)(uintptr_t)&c, false,     true};

	try_operation(&o);
}

TEST(readings) {
	static const struct request all[] = {
		{"server.info", "{}"},
		{"group.list", "{}"},
		{"group.get", "{group: 1}"},
		{"modem.list", "{group: 1}"},
		{"modem.get", "{group: 1, " SECOND "}"},
		{"counters.get", "{}"},
		{"metrics.get", "{group: 1}"},
		{"measure.get", "{}"},
		{"scheduler.get", "{group: 1}"},
		{"flow.get", "{group: 1, id: 1}"},
		{"modem.flows", "{group: 1, " SECOND "}"},
		{"latency.get", "{group: 1}"},
		{"worker.list", "{}"},
		{"config.get", "{keys: true}"},
		{"config.refuse", "{}"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		try_reading(all[i].method, all[i].params);
}

/* A request is compared with the other groups of its ports, as a file is. */
TEST(what_another_group_has) {
	static const struct request taken = {"channel.add",
					     "{group: 1, channel: {id: 7, " CHANNEL "66049}}"};
	const char *answer = answer_to(&taken);
	char params[96];
	const struct request add = {"group.add", params};
	const struct live_group *live = &bench->server.groups[0].live;
	json_t *json;
	char *text;

	assert_int_equal(bench->server.groups[1].sg->channels[0].session, 66049);
	assert_non_null(strstr(answer,
			       "channel.session: found 0x00010201 again, allowed: it in one "
			       "group of the port net_ring_life_rphy0_0"));
	snprintf(params, sizeof(params), "{file: '%s'}", group_path);
	json = group_of(live);
	json_object_set_new(json, "service_group", json_integer(3));
	text = json_dumps(json, 0);
	file_write(group_path, text);
	answer = answer_to(&add);
	assert_non_null(strstr(answer, "channel.session: found 0x00010101 again"));
	free(text);
	json_decref(json);
}

/* A method that is new needs a request above. */
TEST(every_method_is_tried) {
	for (size_t i = 0; i < rpc.method_count; i++) {
		if (!is_tried(rpc.methods[i].name))
			fail_msg("%s: no test has calls fail in it", rpc.methods[i].name);
	}
}

ALL_TESTS(begin, end)
