/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client may ask of a server of two groups, and what it is told. */
#include "test_main.h"

#include <unistd.h>

#include "asking.h"

TEST(who_it_is) {
	static char control[] = "net_control";
	struct service_group *second = &bench->server.groups[1].live.sg;
	json_t *info;

	assert_ptr_equal(bench->server.groups[1].sg, second);
	second->control_port.device = control;
	info = told("server.info", "{}");
	second->control_port.device = NULL;
	assert_string_equal(word(info, "config"), "/no/such/file");
	assert_int_equal(number(info, "pid"), getpid());
	assert_int_equal(json_array_size(at(info, "groups")), GROUPS);
	assert_int_equal(number(info, "groups.1.id"), 2);
	assert_int_equal(number(info, "groups.1.modems"), 2);
	assert_int_equal(number(info, "groups.1.upper_mac_core"), 1);
	assert_int_equal(number(info, "groups.1.lower_mac_core"), 2);
	assert_int_equal(number(info, "groups.1.upstream_core"), 3);
	assert_string_equal(word(info, "groups.1.rphy"), bench->groups[1].rphy_port.device);
	assert_string_equal(word(info, "groups.1.control"), "net_control");
	assert_null(json_object_get(at(info, "groups.0"), "control"));
	assert_int_equal(json_array_size(at(info, "workers")), 3);
	assert_int_equal(number(info, "workers.2.core"), 3);
	json_decref(info);
}

TEST(which_group) {
	json_t *group = told("group.get", "{group: 2}");

	assert_int_equal(number(group, "id"), 2);
	json_decref(group);
	refused("group.get", "{}", RPC_WRONG_PARAMS, "group: found nothing, allowed: 1, 2");
	refused("group.get", "{group: 3}", RPC_REFUSED, "group: found \"3\", allowed: 1, 2");
	refused("modem.list", "{}", RPC_WRONG_PARAMS, "group: found nothing, allowed: 1, 2");
	refused("counters.get", "{group: 3}", RPC_REFUSED, "group: found \"3\", allowed: 1, 2");
	refused("group.get", "{group: 65536}", RPC_WRONG_PARAMS,
		"group.get: group: found \"65536\", allowed: a number, 1 to 65535");
}

TEST(what_a_group_has) {
	json_t *group = told("group.get", "{group: 1}"), *all = told("group.list", "{}");

	assert_int_equal(number(group, "modems"), 2);
	assert_int_equal(number(group, "rate_limit"), 10000000000);
	assert_int_equal(number(group, "channels.1.rate"), 500000000);
	assert_int_equal(number(group, "channels.1.session"), 0x10002);
	assert_int_equal(number(group, "upstream_channels.0.session"), 0x20001);
	assert_int_equal(number(group, "bonding_groups.0.channels.1"), 2);
	assert_int_equal(number(group, "bonding_groups.1.id"), 2);
	assert_int_equal(number(group, "filter_groups.0.rules"), 1);
	assert_int_equal(number(all, "groups.1.id"), 2);
	assert_int_equal(number(all, "groups.1.channels"), 2);
	assert_int_equal(number(all, "groups.1.upstream_channels"), 1);
	json_decref(group);
	json_decref(all);
}

TEST(modems_in_parts) {
	json_t *first = told("modem.list", "{group: 1, count: 1}");
	json_t *second = told("modem.list", "{group: 1, count: 1, first: 1}");
	json_t *behind = told("modem.list", "{group: 1, first: 65535}");

	assert_int_equal(json_array_size(at(first, "modems")), 1);
	assert_string_equal(word(first, "modems.0.mac"), "02:01:00:00:00:01");
	assert_int_equal(number(first, "modems.0.upstream_service_flows"), 1);
	assert_int_equal(number(first, "next"), 1);
	assert_string_equal(word(second, "modems.0.mac"), "02:01:00:00:00:02");
	assert_null(json_object_get(second, "next"));
	assert_int_equal(json_array_size(at(behind, "modems")), 0);
	json_decref(first);
	json_decref(second);
	json_decref(behind);
}

/* In the places of a group that changes there may be nothing. */
TEST(free_places_are_not_told) {
	struct live_group *live = &bench->server.groups[0].live;
	struct modem *modems = live->sg.modems;
	json_t *list, *group;

	modems[1].service_flow_count = 0;
	live->modems--;
	list = told("modem.list", "{group: 1, count: 1}");
	group = told("group.get", "{group: 1}");
	assert_null(json_object_get(list, "next"));
	assert_int_equal(number(group, "modems"), 1);
	refused("modem.get", "{group: 1, mac: '02:01:00:00:00:02'}", RPC_REFUSED,
		"mac: service group 1 has no modem 02:01:00:00:00:02");
	modems[1].service_flow_count = 1;
	live->modems++;
	json_decref(list);
	json_decref(group);
}

TEST(what_was_counted) {
	json_t *all, *one;

	groups_bench_down(bench, 1, 0, 1, 200);
	groups_bench_settle(bench);
	groups_bench_pass(bench, 1000000);
	all = told("counters.get", "{}");
	one = told("counters.get", "{group: 2}");
	assert_int_equal(json_array_size(at(all, "groups")), GROUPS);
	assert_int_equal(number(all, "groups.0.downstream.counters.received"), 0);
	assert_int_equal(number(all, "groups.1.downstream.counters.received"), 1);
	assert_int_equal(number(all, "groups.1.downstream.drops.runt"), 0);
	assert_int_equal(number(all, "groups.1.upstream.counters.received"), 0);
	assert_int_equal(json_array_size(at(one, "groups")), 1);
	assert_int_equal(number(one, "groups.0.id"), 2);
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
	json_t *both = told("measure.set", "{cycles: true, latency: true}"), *one;

	assert_true(json_is_true(at(both, "cycles")) && json_is_true(at(both, "latency")));
	one = told("measure.set", "{cycles: false}");
	assert_true(json_is_false(at(one, "cycles")) && json_is_true(at(one, "latency")));
	json_decref(both);
	json_decref(one);
	one = told("measure.set", "{latency: false}");
	assert_true(json_is_false(at(one, "cycles")) && json_is_false(at(one, "latency")));
	json_decref(one);
}

/* Each by the groups that it serves. */
TEST(ports_of_the_groups) {
	struct server_ports *ports = &bench->server.ports;
	static struct server_ports before;
	json_t *info;

	before = *ports;
	ports->count = 2;
	for (unsigned p = 0; p < 2; p++) {
		ports->list[p] = (struct server_port){.role = DEVICE_NETWORK, .users = 1};
		ports->of[p][DEVICE_NETWORK] = p;
	}
	info = told("server.info", "{}");
	*ports = before;
	assert_int_equal(json_array_size(at(info, "ports")), 2);
	for (unsigned p = 0; p < 2; p++) {
		const json_t *groups = at(json_array_get(at(info, "ports"), p), "groups");

		assert_int_equal(json_array_size(groups), 1);
		assert_int_equal(json_integer_value(json_array_get(groups, 0)), p + 1);
	}
	json_decref(info);
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
	json_t *info, *answer;

	reload.path = "/no/such/\xe9";
	info = told("server.info", "{}");
	answer = asked("config.reload", "{}");
	reload.path = "/no/such/file";
	assert_string_equal(word(info, "config"), "/no/such/?");
	assert_non_null(strstr(word(answer, "error.message"), "/no/such/?: 1 mistake"));
	json_decref(info);
	json_decref(answer);
}

/* As vcmtsd prints them, with no server. */
TEST(methods_are_described) {
	const struct rpc alone = methods_rpc(NULL);
	json_t *all = rpc_describe(&alone);
	const json_t *list = at(all, "methods");

	assert_int_equal(json_array_size(list), alone.method_count);
	for (size_t m = 0; m < json_array_size(list); m++) {
		assert_true(strlen(word(json_array_get(list, m), "summary")) > 10);
		assert_true(json_object_size(
				    at(json_array_get(list, m), "result.schema.properties")) > 0);
	}
	json_decref(all);
}

ALL_TESTS(begin, end)
