/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client may ask of a server of two groups, and what it is told. */
#include "test_main.h"

#include <unistd.h>

#include "asking_bench.h"

TEST(who_it_is) {
	static char control[] = "net_control";
	struct service_group *second = &bench->server.groups[1].live.sg;
	json_t *info;

	assert_ptr_equal(bench->server.groups[1].sg, second);
	second->control_port.device = control;
	info = told("server.info", "{}");
	second->control_port.device = NULL;
	expect_members(info, "config=/no/such/file groups=[2] workers=[3] workers.2.core=3");
	expect_members(info, "groups.1.id=2 groups.1.modems=2 groups.1.upper_mac_core=1 "
			     "groups.1.lower_mac_core=2 groups.1.upstream_core=3");
	expect_members(info, "groups.1.control=net_control groups.0.control=none");
	assert_int_equal(number(info, "pid"), getpid());
	assert_string_equal(word(info, "groups.1.rphy"), bench->groups[1].rphy_port.device);
	json_decref(info);
}

TEST(which_group) {
	expect_told("group.get", "{group: 2}", "id=2");
	refused("group.get", "{}", RPC_WRONG_PARAMS, "group: found nothing, allowed: 1, 2");
	refused("group.get", "{group: 3}", RPC_REFUSED, "group: found \"3\", allowed: 1, 2");
	refused("modem.list", "{}", RPC_WRONG_PARAMS, "group: found nothing, allowed: 1, 2");
	refused("counters.get", "{group: 3}", RPC_REFUSED, "group: found \"3\", allowed: 1, 2");
	refused("group.get", "{group: 65536}", RPC_WRONG_PARAMS,
		"group.get: group: found \"65536\", allowed: a number, 1 to 65535");
}

TEST(what_a_group_has) {
	expect_told("group.get", "{group: 1}",
		    "modems=2 rate_limit=10000000000 channels.1.rate=500000000 "
		    "channels.1.session=65538 upstream_channels.0.session=131073 "
		    "bonding_groups.0.channels.1=2 bonding_groups.1.id=2 filter_groups.0.rules=1");
	expect_told("group.list", "{}",
		    "groups.1.id=2 groups.1.channels=2 groups.1.upstream_channels=1");
}

TEST(modems_in_parts) {
	expect_told("modem.list", "{group: 1, count: 1}",
		    "modems=[1] modems.0.mac=02:01:00:00:00:01 "
		    "modems.0.upstream_service_flows=1 next=1");
	expect_told("modem.list", "{group: 1, count: 1, first: 1}",
		    "modems=[1] modems.0.mac=02:01:00:00:00:02 next=none");
	expect_told("modem.list", "{group: 1, first: 65535}", "modems=[0]");
}

/* In the places of a group that changes there may be nothing. */
TEST(free_places_are_not_told) {
	struct live_group *live = &bench->server.groups[0].live;
	struct modem *modems = live->sg.modems;

	modems[1].service_flow_count = 0;
	live->modems--;
	expect_told("modem.list", "{group: 1}", "modems=[1]");
	expect_told("modem.list", "{group: 1, count: 1}", "next=none");
	expect_told("group.get", "{group: 1}", "modems=1");
	refused("modem.get", "{group: 1, mac: '02:01:00:00:00:02'}", RPC_REFUSED,
		"mac: service group 1 has no modem 02:01:00:00:00:02");
	modems[1].service_flow_count = 1;
	live->modems++;
}

TEST(what_was_counted) {
	json_t *all, *one;

	pass_packets(1, 200);
	all = told("counters.get", "{}");
	one = told("counters.get", "{group: 2}");
	expect_members(all,
		       "groups=[2] groups.0.downstream.counters.received=0 "
		       "groups.1.downstream.counters.received=1 groups.1.downstream.drops.runt=0 "
		       "groups.1.upstream.counters.received=0");
	expect_members(one, "groups=[1] groups.0.id=2");
	assert_true(json_equal(at(one, "groups.0"), at(all, "groups.1")));
	json_decref(all);
	json_decref(one);
}

TEST(a_file_that_is_not_there) {
	refused("config.reload", "{}", RPC_REFUSED,
		"/no/such/file: 1 mistake, nothing was changed: /no/such/file:1: file: found no "
		"readable file (No such file or directory), allowed: a YAML file of at most 1 "
		"GiB");
}

TEST(what_is_measured) {
	expect_told("measure.set", "{cycles: true, latency: true}", "cycles=true latency=true");
	expect_told("measure.set", "{cycles: false}", "cycles=false latency=true");
	expect_told("measure.set", "{latency: false}", "cycles=false latency=false");
}

/* Each by the groups that it serves. */
TEST(ports_of_the_groups) {
	struct server_ports *ports = &bench->server.ports;
	static struct server_ports before;

	before = *ports;
	ports->count = 2;
	for (unsigned p = 0; p < 2; p++) {
		ports->list[p] = (struct server_port){.role = DEVICE_NETWORK, .users = 1};
		ports->of[p][DEVICE_NETWORK] = p;
	}
	expect_told("server.info", "{}",
		    "ports=[2] ports.0.groups=[1] ports.0.groups.0=1 ports.1.groups=[1] "
		    "ports.1.groups.0=2");
	*ports = before;
}

TEST(files_that_others_found_wrong) {
	uint64_t before = bench->server.refused;
	json_t *done = told("config.refuse", "{}");

	assert_int_equal(bench->server.refused, before + 1);
	assert_int_equal(number(done, "refused"), before + 1);
	json_decref(done);
}

/* Names of files may be of any bytes. */
TEST(a_name_that_is_no_utf8) {
	reload.path = "/no/such/\xe9";
	expect_told("server.info", "{}", "config=/no/such/?");
	assert_non_null(
		strstr(refusal("config.reload", "{}", RPC_REFUSED), "/no/such/?: 1 mistake"));
	reload.path = "/no/such/file";
}

/* As vcmtsd prints them, with no server. */
TEST(methods_are_described) {
	const struct rpc alone = methods_rpc(NULL);
	json_t *all = rpc_describe(&alone), *method;
	size_t m;

	assert_int_equal(json_array_size(at(all, "methods")), alone.method_count);
	json_array_foreach(at(all, "methods"), m, method) {
		assert_true(strlen(word(method, "summary")) > 10);
		assert_true(json_object_size(at(method, "result.schema.properties")) > 0);
		if (strcmp(word(method, "name"), "group.get") == 0)
			expect_members(method, "params.0.name=group params.0.required=false "
					       "params.0.schema.maximum=65535 errors=[1] "
					       "errors.0.code=-32000");
	}
	json_decref(all);
}

ALL_TESTS(begin, end)
