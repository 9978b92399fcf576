/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests each control method with failing library calls: the response must say correctly whether the change was made. */
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

/* Tests a step of a key roll, undone by replacing the modem, and then does it. */
static void test_key_step(const char *method, const char *params) {
	json_t *group = group_json(&bench->server.groups[0].live, true);
	json_t *modem = json_array_get(json_object_get(group, "modems"), 0);
	json_t *given = json_pack("{s:i, s:O}", "group", 1, "modem", modem);
	char *text = json_dumps(given, 0);
	const struct change step = {{method, params}, {"modem.replace", text}};

	test_change(&step);
	assert_succeeds(&step.run);
	free(text);
	json_decref(given);
	json_decref(group);
}

TEST(key_methods_are_atomic) {
	test_key_step("key.install", "{group: 1, said: 1, key: ff0102030405060708090a0b0c0d0e0f, "
				     "iv: ff1112131415161718191a1b1c1d1e1f}");
	test_key_step("key.use", SA);
	test_key_step("key.remove", SA);
}

/* An object of group 1 on which no other depends: its keys, those of a replacement, and values to set and reset. */
struct object {
	const char *kind, *id, *keys, *replacement, *set, *reset;
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
	if (*keys == '\0') /* a removal */
		snprintf(r->params, sizeof(r->params), "{group: 1, %s}", o->id);
	else
		snprintf(r->params, sizeof(r->params), "{group: 1, %s: {%s, %s}}", o->kind, o->id,
			 keys);
	return (struct request){r->method, r->params};
}

/* `r` must outlive the test: is_tested() compares the method names in it. */
static void test_object(const struct object *o, struct object_request r[6]) {
	const struct request add = object_request(o, "add", o->keys, &r[0]),
			     remove = object_request(o, "remove", "", &r[1]);
	const struct change adds = {add, remove}, removes = {remove, add};
	const struct change replaced = {object_request(o, "replace", o->replacement, &r[2]),
					object_request(o, "replace", o->keys, &r[3])};
	const struct change set = {object_request(o, "set", o->set, &r[4]),
				   object_request(o, "set", o->reset, &r[5])};

	test_change(&adds);
	assert_succeeds(&add);
	test_change(&replaced);
	test_change(&set);
	test_change(&removes);
	assert_succeeds(&remove);
}

TEST(object_methods_are_atomic) {
	static struct object_request requests[ARRAY_COUNT(all_objects)][6];

	for (size_t i = 0; i < ARRAY_COUNT(all_objects); i++)
		test_object(&all_objects[i], requests[i]);
}

TEST(changes_of_objects_in_use) {
	static const struct change all[] = {
		{{"modem.set", "{group: 1, modem: {" SECOND ", max_aggregate_rate: '50 Mbps'}}"},
		 {"modem.set", "{group: 1, modem: {" SECOND ", max_aggregate_rate: null}}"}},
		{{"channel.set", "{group: 1, channel: {id: 1, rate: '700 Mbps'}}"},
		 {"channel.set", "{group: 1, channel: {id: 1, rate: '1 Gbps'}}"}},
		{{"group.set", "{group: 1, values: {rate_limit: '900 Mbps'}}"},
		 {"group.set", "{group: 1, values: {rate_limit: null}}"}},
	};

	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		test_change(&all[i]);
}

/* Tests a request that `other` reverts, then `other`, which the first request reverts. */
static void test_pair(const struct request *one, const struct request *other) {
	const struct change forth = {*one, *other}, back = {*other, *one};

	test_change(&forth);
	assert_succeeds(one);
	test_change(&back);
	assert_succeeds(other);
}

TEST(group_methods_are_atomic) {
	char params[96];
	const struct request add = {"group.add", params},
			     remove = {"group.remove", "{group: 3, limit: 1ms}"};
	static const struct request drain = {"group.drain", "{group: 2, limit: 1ms}"},
				    resume = {"group.resume", "{group: 2}"};

	snprintf(params, sizeof(params), "{file: '%s'}", group_path);
	test_pair(&add, &remove);
	test_pair(&drain, &resume);
}

TEST(worker_and_measure_methods_are_atomic) {
	static const struct request drain = {"worker.drain", "{core: 1, to: 2}"},
				    resume = {"worker.resume", "{core: 1}"};
	static const struct change measures = {{"measure.set", "{latency: true, cycles: false}"},
					       {"measure.set", "{latency: false, cycles: true}"}};

	test_pair(&drain, &resume);
	test_change(&measures);
}

/* Also asserts that the governor's settings equal those of the server. */
static void undo_power(void *context) {
	undo(context);
	assert_memory_equal(power_config_of(methods.power), &bench->server.power,
			    sizeof(bench->server.power));
}

TEST(power_methods_are_atomic) {
	static const struct change c = {
		{"power.set", "{policy: saving, idle: spin, empty_rounds: 7, longest_pause_us: 30, "
			      "coalesce_us: 40, latency_us: 90, transition_us: 5, queues: false}"},
		{"power.set", "{policy: none, idle: auto, empty_rounds: 32, longest_pause_us: 20, "
			      "coalesce_us: 0, latency_us: 100, transition_us: 50, queues: true}"}};
	const struct power_setup setup = {.by_hand = true};
	const struct operation o = {"power.set",	   run,	  undo_power, check_traffic,
				    (void *)(uintptr_t)&c, false, false};

	bench->server.power.driver = POWER_DRIVER_SIMULATED;
	methods.power = power_create(&bench->server, &setup);
	assert_non_null(methods.power);
	test_operation(&o);
	test_reading("power.get", "{}");
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

static void write_server_files(void) {
	json_t *first = group_file_json(&bench->server.groups[0].live);
	json_t *second = group_file_json(&bench->server.groups[1].live);
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

/* Reloads between two files, which differ in values and by one modem. */
TEST(reload_is_atomic) {
	static const struct request r = {"config.reload", "{}"};
	static const struct change c = {r, r};
	const struct operation o = {r.method,	   reload_other,	  reload_served,
				    check_traffic, (void *)(uintptr_t)&c, true,
				    false};

	write_server_files();
	reload.path = served_path;
	assert_succeeds(&r);
	test_operation(&o);
}

static void leave_journal(void *context) {
	(void)context;
	event_journal_unsubscribe(methods.events.journal, &subscriber);
}

/* Also asserts that the response agrees with the subscription. */
static enum outcome subscribe(void *context) {
	enum outcome outcome = run(context);

	if (outcome == OUTCOME_UNKNOWN)
		return subscriber.on ? OUTCOME_DONE : OUTCOME_REFUSED;
	assert_int_equal(outcome == OUTCOME_DONE, subscriber.on);
	return outcome;
}

TEST(subscription_is_atomic) {
	static const struct change c = {{"events.subscribe", "{keys: true, groups: [1, 2]}"},
					{NULL, NULL}};
	const struct operation o = {c.run.method,	   subscribe, leave_journal, NULL,
				    (void *)(uintptr_t)&c, false,     true};

	test_operation(&o);
}

TEST(reading_methods_change_nothing) {
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
		{"config.changes", "{}"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		test_reading(all[i].method, all[i].params);
}

static void remove_saved(void *context) {
	(void)context;
	unlink(saved_path);
}

/* Saves to a new file. After a failure there is no file, also none with a temporary name. */
TEST(saving_is_atomic) {
	static char params[96];
	static struct change c = {{"config.save", params}, {NULL, NULL}};
	const struct operation o = {c.run.method, run, remove_saved, NULL, &c, false, true};

	write_server_files();
	reload.path = served_path;
	snprintf(params, sizeof(params), "{file: '%s'}", saved_path);
	test_operation(&o);
	remove_saved(NULL);
}

/* A request that conflicts with another group of its ports is refused, as a file would be. */
TEST(conflict_with_other_group_is_refused) {
	static const struct request conflict = {"channel.add",
						"{group: 1, channel: {id: 7, " CHANNEL "66049}}"};
	const char *answer = call_method(&conflict);
	char params[96];
	const struct request add = {"group.add", params};
	const struct live_group *live = &bench->server.groups[0].live;
	json_t *json;
	char *text;

	assert_int_equal(bench->server.groups[1].sg->channels[0].session, 66049);
	assert_non_null(strstr(answer,
			       "channel.session: duplicate 0x00010201, channel 1 of service "
			       "group 2 has it; on port net_ring_life_rphy0_0, such groups"));
	snprintf(params, sizeof(params), "{file: '%s'}", group_path);
	json = group_file_json(live);
	json_object_set_new(json, "service_group", json_integer(3));
	text = json_dumps(json, 0);
	write_file(group_path, text);
	answer = call_method(&add);
	assert_non_null(strstr(answer, "channel.session: duplicate 0x00010101, "));
	free(text);
	json_decref(json);
}

/* Runs last: a new method needs a request above. */
TEST(every_method_is_tested) {
	for (size_t i = 0; i < rpc.method_count; i++) {
		if (!is_tested(rpc.methods[i].name))
			fail_msg("%s: no test of this file calls the method", rpc.methods[i].name);
	}
}

ALL_TESTS(start_server, stop_server)
