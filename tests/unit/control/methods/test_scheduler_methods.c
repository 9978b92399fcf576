/* SPDX-License-Identifier: BSD-3-Clause */
/* What the downstream scheduler, the pipeline and the polling threads have done, as a client is told. */
#include "test_main.h"

#include <rte_cycles.h>

#include "asking.h"

#define PACKETS 3

static double real(const json_t *json, const char *path) {
	return json_number_value(at(json, path));
}

static void pass_packets(unsigned count) {
	for (unsigned n = 0; n < count; n++)
		groups_bench_down(bench, 1, 0, n, 200);
	groups_bench_settle(bench);
	groups_bench_pass(bench, 1000000);
}

TEST(what_the_scheduler_did) {
	json_t *idle = told("scheduler.get", "{group: 1}"), *json;
	int64_t sent;

	assert_int_equal(json_array_size(at(idle, "delay")), 0);
	assert_int_equal(json_array_size(at(idle, "channels")), 2);
	assert_int_equal(number(idle, "channels.1.rate"), 500000000);
	assert_int_equal(number(idle, "bonding_groups.0.channels"), 2);
	assert_int_equal(json_array_size(at(idle, "service_flows")), 0);
	json_decref(idle);
	idle = told("scheduler.get", "{group: 1, flows: false}");
	assert_null(json_object_get(idle, "service_flows"));
	json_decref(idle);
	pass_packets(PACKETS);
	json = told("scheduler.get", "{group: 2}");
	assert_int_equal(json_array_size(at(json, "delay")), 1);
	assert_int_equal(number(json, "delay.0.packets"), PACKETS);
	assert_true(real(json, "delay.0.p50_us") <= real(json, "delay.0.p99_9_us"));
	sent = number(json, "channels.0.packets") + number(json, "channels.1.packets");
	assert_int_equal(sent, PACKETS);
	assert_int_equal(number(json, "bonding_groups.0.packets") +
				 number(json, "bonding_groups.1.packets"),
			 PACKETS);
	json_decref(json);
	refused("scheduler.get", "{}", RPC_WRONG_PARAMS, "group: found nothing, allowed: 1, 2");
}

/* By its ID and by its modem, a flow is told alike. */
TEST(service_flows) {
	json_t *modem = told("modem.flows", "{group: 2, mac: '02:01:00:00:00:01'}"), *flow;
	char params[64];

	assert_int_equal(number(modem, "service_flows.0.packets"), PACKETS);
	assert_int_equal(number(modem, "service_flows.0.waiting_packets"), 0);
	assert_string_equal(word(modem, "service_flows.0.aqm"), "tail-drop");
	assert_null(json_object_get(at(modem, "service_flows.0"), "drop_probability"));
	snprintf(params, sizeof(params), "{group: 2, id: %d}",
		 (int)number(modem, "service_flows.0.id"));
	flow = told("flow.get", params);
	assert_string_equal(word(flow, "modem"), "02:01:00:00:00:01");
	json_object_del(flow, "modem");
	assert_true(json_equal(flow, at(modem, "service_flows.0")));
	json_decref(flow);
	json_decref(modem);
	json_decref(told("modem.set",
			 "{group: 2, modem: {mac: '02:01:00:00:00:01', service_flows: ["
			 "{id: 1, dsid: 7, buffer: '200 kB'}, "
			 "{id: 3, dsid: 8, buffer: '300 kB'}]}}"));
	modem = told("modem.flows", "{group: 2, mac: '02:01:00:00:00:01'}");
	assert_int_equal(number(modem, "service_flows.0.packets"), PACKETS);
	assert_int_equal(number(modem, "service_flows.1.id"), 3);
	assert_int_equal(number(modem, "service_flows.1.packets"), 0);
	json_decref(modem);
	refused("flow.get", "{group: 2, id: 4000000000}", RPC_REFUSED,
		"id: no downstream service flow of the group has this ID");
}

/* Nothing while it is off; then what has passed since the last reset. */
TEST(latencies) {
	json_t *json = told("latency.get", "{group: 2}");

	assert_int_equal(json_object_size(json), 0);
	json_decref(json);
	json_decref(told("measure.set", "{latency: true}"));
	pass_packets(PACKETS);
	json = told("latency.get", "{group: 2}");
	assert_int_equal(number(json, "downstream.packets"), PACKETS);
	assert_int_equal(number(json, "upstream.packets"), 0);
	json_decref(json);
	json = told("latency.get", "{group: 2, reset: true}");
	assert_int_equal(number(json, "downstream.packets"), PACKETS);
	assert_true(real(json, "downstream.p50") <= real(json, "downstream.max"));
	assert_true(json_array_size(at(json, "downstream.histogram")) > 0);
	assert_int_equal(number(json, "upstream.packets"), 0);
	assert_null(json_object_get(at(json, "upstream"), "p50"));
	json_decref(json);
	json = told("latency.get", "{group: 2}");
	assert_int_equal(number(json, "downstream.packets"), 0);
	json_decref(json);
	json_decref(told("measure.set", "{latency: false}"));
}

/* The longest gap is forgotten by who asks anew, and by nobody else. */
TEST(polling_threads) {
	json_t *json;

	bench->server.workers[1].longest = rte_get_tsc_hz() / 100;
	bench->server.workers[1].longest_since = rte_get_tsc_hz() / 200;
	for (unsigned n = 0; n < 4; n++) {
		json = told("worker.list", n == 1 || n == 2 ? "{anew: true}" : "{}");
		assert_int_equal(json_array_size(at(json, "workers")), 3);
		assert_int_equal(number(json, "workers.1.number"), 1);
		assert_int_equal(number(json, "workers.1.longest_ns"), 10000000);
		assert_int_equal(number(json, "workers.1.longest_since_ns"), n < 2 ? 5000000 : 0);
		assert_string_equal(word(json, "workers.1.idle"), "poll");
		json_decref(json);
	}
	assert_string_not_equal(bench->server.workers[1].name, bench->server.workers[2].name);
}

ALL_TESTS(begin, end)
