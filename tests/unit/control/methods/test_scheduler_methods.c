/* SPDX-License-Identifier: BSD-3-Clause */
/* What the downstream scheduler, the pipeline and the polling threads have done, as a client is told. */
#include "test_main.h"

#include <rte_cycles.h>

#include "asking_bench.h"

#define PACKETS 3

static double real(const json_t *json, const char *path) {
	return json_number_value(at(json, path));
}

TEST(what_the_scheduler_did) {
	json_t *json;

	expect_told("scheduler.get", "{group: 1}",
		    "delay=[0] channels=[2] channels.1.rate=500000000 bonding_groups.0.channels=2 "
		    "service_flows=[0]");
	expect_told("scheduler.get", "{group: 1, flows: false}", "service_flows=none");
	pass_packets(PACKETS, 200);
	json = told("scheduler.get", "{group: 2}");
	expect_members(json, "delay=[1] delay.0.packets=3");
	assert_true(real(json, "delay.0.p50_us") <= real(json, "delay.0.p99_9_us"));
	assert_int_equal(number(json, "channels.0.packets") + number(json, "channels.1.packets"),
			 PACKETS);
	assert_int_equal(number(json, "bonding_groups.0.packets") +
				 number(json, "bonding_groups.1.packets"),
			 PACKETS);
	json_decref(json);
	refused("scheduler.get", "{}", RPC_WRONG_PARAMS, "group: found nothing, allowed: 1, 2");
}

/* By its ID and by its modem, a flow is told alike. */
TEST(service_flows) {
	static const char modem_flows[] = "{group: 2, mac: '02:01:00:00:00:01'}";
	json_t *modem = told("modem.flows", modem_flows), *flow;
	char params[64];

	expect_members(modem,
		       "service_flows.0.packets=3 service_flows.0.waiting_packets=0 "
		       "service_flows.0.aqm=tail-drop service_flows.0.drop_probability=none");
	snprintf(params, sizeof(params), "{group: 2, id: %d}",
		 (int)number(modem, "service_flows.0.id"));
	flow = told("flow.get", params);
	expect_members(flow, "modem=02:01:00:00:00:01");
	json_object_del(flow, "modem");
	assert_true(json_equal(flow, at(modem, "service_flows.0")));
	json_decref(flow);
	json_decref(modem);
	json_decref(told("modem.set",
			 "{group: 2, modem: {mac: '02:01:00:00:00:01', service_flows: ["
			 "{id: 1, dsid: 7, buffer: '200 kB'}, "
			 "{id: 3, dsid: 8, buffer: '300 kB'}]}}"));
	expect_told("modem.flows", modem_flows,
		    "service_flows.0.packets=3 service_flows.1.id=3 service_flows.1.packets=0");
	refused("flow.get", "{group: 2, id: 4000000000}", RPC_REFUSED,
		"id: no downstream service flow of the group has this ID");
}

/* Nothing while it is off; then what has passed since the last reset. */
TEST(latencies) {
	json_t *json = told("latency.get", "{group: 2}");

	assert_int_equal(json_object_size(json), 0);
	json_decref(json);
	json_decref(told("measure.set", "{latency: true}"));
	pass_packets(PACKETS, 200);
	expect_told("latency.get", "{group: 2}", "downstream.packets=3 upstream.packets=0");
	json = told("latency.get", "{group: 2, reset: true}");
	expect_members(json, "downstream.packets=3 upstream.packets=0 upstream.p50=none");
	assert_true(real(json, "downstream.p50") <= real(json, "downstream.max"));
	assert_true(json_array_size(at(json, "downstream.histogram")) > 0);
	json_decref(json);
	expect_told("latency.get", "{group: 2}", "downstream.packets=0");
	json_decref(told("measure.set", "{latency: false}"));
}

/* The longest gap is forgotten by who asks anew, and by nobody else. */
TEST(polling_threads) {
	bench->server.workers[1].longest = rte_get_tsc_hz() / 100;
	bench->server.workers[1].longest_since = rte_get_tsc_hz() / 200;
	for (unsigned n = 0; n < 4; n++) {
		json_t *json = told("worker.list", n == 1 || n == 2 ? "{anew: true}" : "{}");

		expect_members(json, "workers=[3] workers.1.number=1 workers.1.longest_ns=10000000 "
				     "workers.1.idle=poll");
		assert_int_equal(number(json, "workers.1.longest_since_ns"), n < 2 ? 5000000 : 0);
		json_decref(json);
	}
	assert_string_not_equal(bench->server.workers[1].name, bench->server.workers[2].name);
}

ALL_TESTS(begin, end)
