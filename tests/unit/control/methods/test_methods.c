/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests control methods that read from a server of two groups, power.set, and changes that wait for earlier ones. */
#include "test_main.h"

#include <unistd.h>

#include <rte_cycles.h>

#include "methods_kit.h"
#include "power/live/power.h"

#define PACKETS 3

TEST(server_info_describes_the_server) {
	const json_t *info = call_ok("server.info", "{}");

	expect_members(info, "config=/no/such/file groups=[2] workers=[3] workers.2.core=3");
	expect_members(info, "groups.1.id=2 groups.1.modems=2 groups.1.upper_mac_core=1 "
			     "groups.1.lower_mac_core=2 groups.1.upstream_core=3");
	expect_members(info, "groups.1.rphy=net_ring_life_rphy1_0 "
			     "groups.1.control=net_ring_life_control1_0");
	expect_members(info, "ports=[6] ports.0.groups=[1] ports.0.groups.0=1 ports.5.groups=[1] "
			     "ports.5.groups.0=2");
	assert_int_equal(get_int(info, "pid"), getpid());
}

/* Requests with members of the result, or with the error message and its code. */
static const struct {
	const char *method, *params, *expected;
	int code;
} requests[] = {
	{"group.get", "{group: 2}", "id=2"},
	{"group.get", "{}", "there are several service groups: add group=1 (or 2)",
	 RPC_WRONG_PARAMS},
	{"group.get", "{group: 3}", "no service group 3; in service: 1, 2", RPC_REFUSED},
	{"modem.list", "{}", "there are several service groups: add group=1 (or 2)",
	 RPC_WRONG_PARAMS},
	{"counters.get", "{group: 3}", "no service group 3; in service: 1, 2", RPC_REFUSED},
	{"scheduler.get", "{}", "there are several service groups: add group=1 (or 2)",
	 RPC_WRONG_PARAMS},
	{"group.get", "{group: 65536}",
	 "group.get: group: found \"65536\", allowed: a number, 1 to 65535", RPC_WRONG_PARAMS},
	{"group.get", "{group: 1}",
	 "modems=2 rate_limit=10000000000 channels.1.rate=500000000 channels.1.session=65538 "
	 "upstream_channels.0.session=131073 bonding_groups.0.channels.1=2 bonding_groups.1.id=2 "
	 "filter_groups.0.rules=1"},
	{"group.list", "{}", "groups.1.id=2 groups.1.channels=2 groups.1.upstream_channels=1"},
	{"modem.list", "{group: 1, count: 1}",
	 "modems=[1] modems.0.mac=02:01:00:00:00:01 modems.0.upstream_service_flows=0 next=1"},
	{"modem.list", "{group: 1, count: 1, first: 1}",
	 "modems=[1] modems.0.mac=02:01:00:00:00:02 modems.0.upstream_service_flows=1 next=none"},
	{"modem.list", "{group: 1, first: 65535}", "modems=[0]"},
	{"config.reload", "{}",
	 "/no/such/file: 1 mistake, nothing was changed: /no/such/file: cannot read the "
	 "file: No such file or directory",
	 RPC_REFUSED},
	{"measure.set", "{cycles: true, latency: true}", "cycles=true latency=true"},
	{"measure.set", "{cycles: false}", "cycles=false latency=true"},
	{"measure.set", "{latency: false}", "cycles=false latency=false"},
	{"scheduler.get", "{group: 1}",
	 "delay=[0] channels=[2] channels.1.rate=500000000 bonding_groups.0.channels=2 "
	 "service_flows=[0]"},
	{"scheduler.get", "{group: 1, flows: false}", "service_flows=none"},
	{"flow.get", "{group: 2, id: 4000000000}",
	 "id: no downstream service flow of the group has this ID", RPC_REFUSED},
	{"power.get", "{}", "driver=none cores=[0]"},
	{"power.set", "{empty_rounds: 7}", "a replay has no frequencies", RPC_REFUSED},
	{"modem.set", "{group: 1, modem: {mac: '02:01:00:00:00:01', bonding_group: 99}}",
	 "modem 02:01:00:00:00:01: bonding_group: no bonding group 99 in service", RPC_REFUSED},
	{"metrics.get", "{names: []}",
	 "metrics.get: names: found an empty list, allowed: a list of 1 to 64 values",
	 RPC_WRONG_PARAMS},
	{"metrics.get", "{names: ['vcmts_{']}",
	 "metrics.get: names[0]: found \"vcmts_{\", allowed: up to 64 of the characters A-Z a-z "
	 "0-9 . _ -",
	 RPC_WRONG_PARAMS},
	{"metrics.get", "{group: 3}", "no service group 3; in service: 1, 2", RPC_REFUSED},
	{"metrics.get", "{group: 2, modem: '02:01:00:00:00:99'}",
	 "no modem 02:01:00:00:00:99 in service group 2", RPC_REFUSED},
	{"metrics.get", "{modem: '02:01:00:00:00:99'}",
	 "no modem 02:01:00:00:00:99 in any service group", RPC_REFUSED},
	{"metrics.get", "{modem: 'x'}",
	 "metrics.get: modem: found \"x\", allowed: a unicast MAC address such as "
	 "\"02:00:00:00:00:01\"",
	 RPC_WRONG_PARAMS},
	{"metrics.get", "{count: 0}",
	 "metrics.get: count: found \"0\", allowed: a number, 1 to 50000", RPC_WRONG_PARAMS},
};

TEST(requests_return_expected_results) {
	for (size_t i = 0; i < ARRAY_COUNT(requests); i++) {
		if (requests[i].code == 0)
			expect_result(requests[i].method, requests[i].params, requests[i].expected);
		else
			expect_error(requests[i].method, requests[i].params, requests[i].code,
				     requests[i].expected);
	}
}

/* Slots of a group may be free while it changes. */
TEST(free_slots_are_not_reported) {
	struct live_group *live = &bench->server.groups[0].live;
	struct modem *modems = live->sg.modems;

	modems[1].service_flow_count = 0;
	live->modems--;
	expect_result("modem.list", "{group: 1}", "modems=[1]");
	expect_result("modem.list", "{group: 1, count: 1}", "next=none");
	expect_result("group.get", "{group: 1}", "modems=1");
	expect_error("modem.get", "{group: 1, mac: '02:01:00:00:00:02'}", RPC_REFUSED,
		     "no modem 02:01:00:00:00:02 in service group 1");
}

TEST(counters_get_returns_counters) {
	const json_t *all, *one;

	pass_packets(1, 200);
	all = call_ok("counters.get", "{}");
	one = call_ok("counters.get", "{group: 2}");
	expect_members(all,
		       "groups=[2] groups.0.downstream.counters.received=0 "
		       "groups.1.downstream.counters.received=1 groups.1.downstream.drops.runt=0 "
		       "groups.1.upstream.counters.received=0");
	expect_members(one, "groups=[1] groups.0.id=2");
	assert_true(json_equal(get(one, "groups.0"), get(all, "groups.1")));
}

TEST(config_refuse_counts_invalid_files) {
	uint64_t before = bench->server.refused;

	assert_int_equal(get_int(call_ok("config.refuse", "{}"), "refused"), before + 1);
	assert_int_equal(bench->server.refused, before + 1);
}

/* File names may have any bytes. */
TEST(non_utf8_bytes_of_file_names_are_replaced) {
	reload.path = "/no/such/\xe9";
	expect_result("server.info", "{}", "config=/no/such/?");
	assert_non_null(
		strstr(call_error("config.reload", "{}", RPC_REFUSED), "/no/such/?: 1 mistake"));
}

/* Describes the methods without a server, as vcmtsd prints them. */
TEST(methods_are_described) {
	const struct rpc alone = methods_rpc(NULL);
	json_t *all = keep(rpc_describe(&alone)), *method;
	size_t m;

	assert_int_equal(json_array_size(get(all, "methods")), alone.method_count);
	json_array_foreach(get(all, "methods"), m, method) {
		assert_true(strlen(get_str(method, "summary")) > 10);
		assert_true(json_object_size(get(method, "result.schema.properties")) > 0);
		if (strcmp(get_str(method, "name"), "group.get") == 0)
			expect_members(method, "params.0.name=group params.0.required=false "
					       "params.0.schema.maximum=65535 errors=[1] "
					       "errors.0.code=-32000");
	}
}

static double get_real(const json_t *json, const char *path) {
	return json_number_value(get(json, path));
}

TEST(scheduler_get_counts_packets) {
	const json_t *json;

	pass_packets(PACKETS, 200);
	json = call_ok("scheduler.get", "{group: 2}");
	expect_members(json, "delay=[1] delay.0.packets=3");
	assert_true(get_real(json, "delay.0.p50_us") <= get_real(json, "delay.0.p99_9_us"));
	assert_int_equal(get_int(json, "channels.0.packets") + get_int(json, "channels.1.packets"),
			 PACKETS);
	assert_int_equal(get_int(json, "bonding_groups.0.packets") +
				 get_int(json, "bonding_groups.1.packets"),
			 PACKETS);
}

TEST(flow_reports_follow_changes) {
	static const char modem_flows[] = "{group: 2, mac: '02:01:00:00:00:01'}";
	json_t *modem, *flow;
	char params[64];

	pass_packets(PACKETS, 200);
	modem = call_ok("modem.flows", modem_flows);
	expect_members(modem,
		       "service_flows.0.packets=3 service_flows.0.waiting_packets=0 "
		       "service_flows.0.aqm=tail-drop service_flows.0.drop_probability=none");
	snprintf(params, sizeof(params), "{group: 2, id: %d}",
		 (int)get_int(modem, "service_flows.0.id"));
	flow = call_ok("flow.get", params);
	expect_members(flow, "modem=02:01:00:00:00:01");
	json_object_del(flow, "modem");
	assert_true(json_equal(flow, get(modem, "service_flows.0")));
	call_ok("modem.set", "{group: 2, modem: {mac: '02:01:00:00:00:01', service_flows: ["
			     "{id: 1, dsid: 7, buffer: '200 kB'}, "
			     "{id: 3, dsid: 8, buffer: '300 kB'}]}}");
	expect_result("modem.flows", modem_flows,
		      "service_flows.0.packets=3 service_flows.1.id=3 service_flows.1.packets=0");
}

TEST(latency_get_reports_and_resets) {
	const json_t *json;

	assert_int_equal(json_object_size(call_ok("latency.get", "{group: 2}")), 0);
	call_ok("measure.set", "{latency: true}");
	pass_packets(PACKETS, 200);
	expect_result("latency.get", "{group: 2}", "downstream.packets=3 upstream.packets=0");
	json = call_ok("latency.get", "{group: 2, reset: true}");
	expect_members(json, "downstream.packets=3 upstream.packets=0 upstream.p50=none");
	assert_true(get_real(json, "downstream.p50") <= get_real(json, "downstream.max"));
	assert_true(json_array_size(get(json, "downstream.histogram")) > 0);
	expect_result("latency.get", "{group: 2}", "downstream.packets=0");
}

TEST(worker_list_resets_longest_round) {
	bench->server.workers[1].longest = rte_get_tsc_hz() / 100;
	bench->server.workers[1].longest_since = rte_get_tsc_hz() / 200;
	for (unsigned n = 0; n < 4; n++) {
		const json_t *json =
			call_ok("worker.list", n == 1 || n == 2 ? "{anew: true}" : "{}");

		expect_members(json, "workers=[3] workers.1.number=1 workers.1.longest_ns=10000000 "
				     "workers.1.idle=poll");
		assert_int_equal(get_int(json, "workers.1.longest_since_ns"), n < 2 ? 5000000 : 0);
	}
	assert_string_not_equal(bench->server.workers[1].name, bench->server.workers[2].name);
}

TEST(power_set_keeps_other_settings) {
	const struct power_setup setup = {.by_hand = true};
	struct power_config *config = &bench->server.power;
	struct power *p = power_create(&bench->server, &setup);

	assert_non_null(p);
	methods.power = p;
	call_ok("power.set", "{empty_rounds: 7, longest_pause_us: 30, coalesce_us: 40}");
	assert_int_equal(config->empty_rounds, 7);
	assert_int_equal(config->coalesce, 40000);
	assert_int_equal(bench->server.workers[0].idle.config.coalesce, 40000);
	assert_int_equal(config->longest_pause, 30000);
	expect_result("power.set", "{latency_us: 90}",
		      "empty_rounds=7 cores=[3] cores.0.core=1 "
		      "cores.0.workers.0=0 cores.1.core=2 cores.1.workers.0=1 cores.2.core=3 "
		      "cores.2.workers.0=2");
	assert_int_equal(config->empty_rounds, 7);
	assert_int_equal(config->longest_pause, 30000);
	assert_int_equal(config->latency, 90000);
	assert_int_equal(power_config_of(p)->latency, 90000); /* also in the governor */
	call_ok("power.set", "{empty_rounds: 1000000}");
	assert_int_equal(config->empty_rounds, 1000000);
	expect_error("power.set", "{empty_rounds: 1000001}", RPC_WRONG_PARAMS,
		     "power.set: empty_rounds: found \"1000001\", allowed: a number, 1 to 1000000");
	methods.power = NULL;
	power_free(p);
}

#define FIRST "{group: 1, modem: {mac: '02:01:00:00:00:01'"
#define SECOND "{group: 1, modem: {mac: '02:01:00:00:00:02'"

/* Asserts that the request succeeds without waiting. Returns the generation. */
static int64_t finish(struct rpc_work *w) {
	return get_int(end_call(w), "result.generation");
}

/* While `on`, no change retires, as if a worker still used objects that an earlier change removed. */
static void block_retirement(bool on) {
	static const char change;

	bench->server.retires = on ? (const void *)&change : NULL;
}

static unsigned retiring_changes(void) {
	return server_changes_retiring(&bench->server);
}

/* A request is answered when its change is in service, before it retires. A change of another object need not wait. */
TEST(change_of_other_object_does_not_wait) {
	int64_t first, second;

	block_retirement(true);
	first = finish(begin_call("modem.set", FIRST ", max_aggregate_rate: '50 Mbps'}}"));
	second = finish(begin_call("modem.set", SECOND ", max_aggregate_rate: '60 Mbps'}}"));
	assert_int_equal(second, first + 1);
	assert_int_equal(retiring_changes(), 2);
	assert_int_equal(bench->server.groups[0].live.sg.modems[0].aggregate_rate, 50000000);
	block_retirement(false);
	server_changes_retire(&bench->server);
	assert_int_equal(retiring_changes(), 0);
}

TEST(change_of_same_object_waits_for_retirement) {
	struct rpc_work *w;

	block_retirement(true);
	finish(begin_call("modem.set", FIRST ", max_aggregate_rate: '70 Mbps'}}"));
	w = begin_call("modem.set", FIRST ", max_aggregate_rate: '80 Mbps'}}");
	for (int i = 0; i < 3; i++)
		assert_false(rpc_continue(w));
	assert_int_equal(retiring_changes(), 1);
	finish(begin_call("modem.set", SECOND ", max_aggregate_rate: '90 Mbps'}}"));
	assert_false(rpc_continue(w));
	block_retirement(false);
	finish(w);
	assert_int_equal(bench->server.groups[0].live.sg.modems[0].aggregate_rate, 80000000);
}

TEST(removal_is_answered_after_retirement) {
	struct live_group *live = &bench->server.groups[0].live;
	struct rpc_work *removal, *addition;

	block_retirement(true);
	removal = begin_call("modem.remove", "{group: 1, mac: '02:01:00:00:00:02'}");
	assert_false(rpc_continue(removal));
	assert_int_equal(live->modems, 1); /* applied, not retired */
	assert_false(rpc_continue(removal));
	addition = begin_call("modem.add", SECOND
			      ", addresses: ['10.9.9.9'], bonding_group: 2, security: {said: 2, "
			      "cipher: 'none'}, service_flows: [{id: 2, buffer: '200 kB'}]}}");
	for (int i = 0; i < 3; i++)
		assert_false(rpc_continue(addition));
	block_retirement(false);
	finish(removal);
	assert_int_equal(retiring_changes(), 0);
	finish(addition);
	assert_int_equal(live->modems, 2);
}

EACH_TEST(start_server, stop_server)
