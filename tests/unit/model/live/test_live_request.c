/* SPDX-License-Identifier: BSD-3-Clause */
/* One object of a request: read, checked, held against all others, and written back. */
#include "test_live_ask.h"

/* Every object that is written is read again as it was, with its references. */
static void there_and_back(void **state) {
	struct live_group l = live_of(LIVE_SMALL);
	struct live_changes changes;
	char why[LIVE_LINE];

	(void)state;
	for (enum live_object o = LIVE_CHANNEL; o < LIVE_OBJECTS; o++) {
		for (uint32_t i = 0; i < live_room(&l.room, o); i++) {
			json_t *value;

			if (l.blocks[o][i] == NULL)
				continue;
			value = object_json(&l, o, i, true);
			assert_true(live_request(&l, LIVE_REPLACE, o, value, &changes, why));
			assert_int_equal(changes.count, 0); /* it is so already */
			json_decref(value);
		}
	}
	live_group_free(&l);
}

static void keys_are_told_to_none_but_who_asks(void **state) {
	static const char *const secret[] = {"key", "iv", "next_key", "next_iv"};
	struct live_group l = live_of(LIVE_SMALL);
	json_t *open = object_json(&l, LIVE_MODEM, 0, true);
	json_t *shut = object_json(&l, LIVE_MODEM, 0, false);

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(secret); i++)
		assert_null(json_object_get(json_object_get(shut, "security"), secret[i]));
	assert_string_equal(
		json_string_value(json_object_get(json_object_get(open, "security"), "key")),
		"000102030405060708090a0b0c0d0e0f");
	assert_int_equal(
		json_integer_value(json_object_get(json_object_get(shut, "security"), "said")), 1);
	json_decref(open);
	json_decref(shut);
	live_group_free(&l);
}

static void objects_come_and_go(void **state) {
	struct live_group l = live_of(LIVE_SMALL);

	(void)state;
	expect_done(&l, LIVE_ADD, LIVE_CHANNEL, "{id: 9, type: ofdm, rate: '1 Gbps', session: 19}",
		    "1 channel added");
	expect_done(&l, LIVE_ADD, LIVE_UPSTREAM_CHANNEL,
		    "{id: 9, type: ofdma, rate: '1 Gbps', session: 19}",
		    "1 upstream channel added");
	expect_done(&l, LIVE_ADD, LIVE_BONDING_GROUP, "{id: 9, channels: [9, 1]}",
		    "1 bonding group added");
	expect_done(&l, LIVE_ADD, LIVE_FILTER_GROUP,
		    "{id: 9, rules: [{family: ipv4, action: deny}]}", "1 filter group added");
	expect_done(&l, LIVE_ADD, LIVE_MODEM,
		    "{mac: '02:01:00:00:00:09', addresses: ['10.0.0.9'], bonding_group: 9, "
		    "filter_groups: [9], security: {said: 9, cipher: none}, "
		    "service_flows: [{id: 9, dsid: 9}], upstream_service_flows: [{id: 10, "
		    "sid_clusters: [{id: 0, sids: [{channel: 9, sid: 1}]}]}]}",
		    "1 modem added");
	expect_refused(
		&l, LIVE_REMOVE, LIVE_CHANNEL, "{id: 9}",
		"channel: found channel 9, which bonding group 9 refers to, allowed: one that "
		"nothing refers to");
	expect_refused(&l, LIVE_REMOVE, LIVE_BONDING_GROUP, "{id: 9}",
		       "bonding_group: found bonding group 9, which modem 02:01:00:00:00:09 refers "
		       "to, allowed: one that nothing refers to");
	expect_refused(&l, LIVE_REMOVE, LIVE_FILTER_GROUP, "{id: 9}",
		       "filter_group: found filter group 9, which modem 02:01:00:00:00:09 refers "
		       "to, allowed: one that nothing refers to");
	expect_refused(&l, LIVE_REMOVE, LIVE_UPSTREAM_CHANNEL, "{id: 9}",
		       "upstream_channel: found upstream channel 9, which modem 02:01:00:00:00:09 "
		       "refers to, allowed: one that nothing refers to");
	expect_done(&l, LIVE_REMOVE, LIVE_MODEM, "{mac: '02:01:00:00:00:09'}", "1 modem removed");
	expect_done(&l, LIVE_REMOVE, LIVE_FILTER_GROUP, "{id: 9}", "1 filter group removed");
	expect_done(&l, LIVE_REMOVE, LIVE_BONDING_GROUP, "{id: 9}", "1 bonding group removed");
	expect_done(&l, LIVE_REMOVE, LIVE_UPSTREAM_CHANNEL, "{id: 9}",
		    "1 upstream channel removed");
	expect_done(&l, LIVE_REMOVE, LIVE_CHANNEL, "{id: 9}", "1 channel removed");
	live_group_free(&l);
	l = live_of(LIVE_SMALL); /* as it was */
	live_group_free(&l);
}

static void some_keys_are_set(void **state) {
	struct live_group l = live_of(LIVE_SMALL);
	const struct modem *modem = &l.sg.modems[0];

	(void)state;
	expect_done(&l, LIVE_SET, LIVE_MODEM, "{" MAC_1 ", max_aggregate_rate: '50 Mbps'}",
		    "1 modem changed");
	assert_int_equal(modem->aggregate_rate, 50000000);
	assert_int_equal(modem->aggregate_burst, 62500); /* follows, as it was not said */
	expect_done(&l, LIVE_SET, LIVE_MODEM,
		    "{" MAC_1 ", service_flows: {1: {max_sustained_rate: '30 Mbps'}}}",
		    "1 modem changed");
	assert_int_equal(modem->service_flows[0].sustained_rate, 30000000);
	assert_int_equal(modem->service_flows[0].traffic_burst, 37500);
	assert_int_equal(modem->service_flows[0].wred.min_threshold, 7000);
	assert_int_equal(modem->service_flow_count, 2);
	expect_done(&l, LIVE_SET, LIVE_MODEM,
		    "{" MAC_1 ", service_flows: {7: {priority: 2, dsid: 7}}}", "1 modem changed");
	assert_int_equal(modem->service_flow_count, 3);
	assert_int_equal(modem->service_flows[2].id, 7);
	expect_done(&l, LIVE_SET, LIVE_MODEM, "{" MAC_1 ", bonding_group: 2}", "1 modem changed");
	assert_int_equal(modem->service_flows[2].bonding_group, 1); /* follows */
	expect_done(&l, LIVE_SET, LIVE_MODEM,
		    "{" MAC_1
		    ", bonding_group: 1, service_flows: {2: {bonding_group: 2}, 7: null}}",
		    "1 modem changed");
	assert_int_equal(modem->service_flow_count, 2);
	expect_done(&l, LIVE_SET, LIVE_MODEM, "{" MAC_1 ", max_aggregate_rate: null}",
		    "1 modem changed");
	assert_int_equal(modem->aggregate_rate, 0);
	assert_int_equal(modem->aggregate_burst, 0);
	expect_done(&l, LIVE_SET, LIVE_MODEM, "{" MAC_1 ", security: {key_sequence: 5}}",
		    "1 modem changed");
	assert_int_equal(modem->security.key_sequence, 5);
	assert_int_equal(modem->security.key[15], 15); /* the secret is still there */
	expect_done(&l, LIVE_SET, LIVE_MODEM, "{" MAC_1 ", classifiers: []}", "1 modem changed");
	assert_int_equal(modem->classifier_count, 0);
	expect_done(&l, LIVE_SET, LIVE_MODEM, "{" MAC_1 "}", "nothing");
	expect_done(&l, LIVE_SET, LIVE_CHANNEL, "{id: 1, rate: '2 Gbps'}", "1 channel changed");
	expect_done(&l, LIVE_SET, LIVE_GROUP, "{rate_limit: '7 Gbps'}", "1 limit changed");
	assert_int_equal(l.sg.rate_limit, 7000000000);
	assert_int_equal(l.sg.cpe_timeout_ns, 300000000000);
	expect_done(&l, LIVE_SET, LIVE_GROUP, "{rate_limit: '7 Gbps'}", "nothing");
	live_group_free(&l);
}

static void what_a_file_may_not_say(void **state) {
	static const struct {
		enum live_verb verb;
		enum live_object object;
		const char *text, *line;
	} all[] = {
		{LIVE_SET, LIVE_MODEM, "{" MAC_1 ", service_flows: {2: {priority: 9}}}",
		 "modem.service_flows[1].priority: found \"9\", allowed: a number, 0 to 7"},
		{LIVE_SET, LIVE_MODEM, "{" MAC_1 ", prio: 9}",
		 "modem.prio: found unknown key \"prio\", allowed: mac, addresses, cpe_limit, "
		 "cpe_limit_ipv6, filter_groups, bonding_group, max_aggregate_rate, "
		 "max_aggregate_burst, security, service_flows, classifiers, "
		 "upstream_service_flows"},
		{LIVE_ADD, LIVE_MODEM, "{}",
		 "modem.mac: found nothing, allowed: a unicast MAC "
		 "address such as \"02:00:00:00:00:01\""},
		{LIVE_REMOVE, LIVE_MODEM, "{id: 5}",
		 "modem.mac: found nothing, allowed: a unicast MAC address such as "
		 "\"02:00:00:00:00:01\""},
		{LIVE_REMOVE, LIVE_MODEM, "{mac: [1, 2]}",
		 "modem.mac: found a list of 2, allowed: a unicast MAC address such as "
		 "\"02:00:00:00:00:01\""},
		{LIVE_REMOVE, LIVE_CHANNEL, "{id: 5}",
		 "channel.id: found 5, allowed: that of a channel in service"},
		{LIVE_SET, LIVE_MODEM, "{mac: '02:01:00:00:00:77'}",
		 "modem.mac: found 02:01:00:00:00:77, allowed: that of a modem in service"},
		{LIVE_REPLACE, LIVE_UPSTREAM_CHANNEL, "{id: 5}",
		 "upstream_channel.id: found 5, allowed: that of an upstream channel in service"},
		{LIVE_SET, LIVE_MODEM, "{" MAC_1 ", bonding_group: 7}",
		 "modem.bonding_group: found \"7\", allowed: the id of a bonding group in service"},
		{LIVE_SET, LIVE_MODEM, "{" MAC_1 ", filter_groups: [1, 1]}",
		 "modem.filter_groups[1]: found \"1\", allowed: each group once"},
		{LIVE_ADD, LIVE_BONDING_GROUP, "{id: 3, channels: [1, 8]}",
		 "bonding_group.channels[1]: found \"8\", allowed: the id of a channel in service"},
		{LIVE_SET, LIVE_MODEM, "{" MAC_1 ", addresses: ['10.9.9.9', '10.9.9.9']}",
		 "modem.addresses[1]: found \"10.9.9.9\" again, allowed: it once (first in the "
		 "same request)"},
		{LIVE_SET, LIVE_MODEM, "{" MAC_1 ", service_flows: {2: {bonding_group: 1}}}",
		 "modem.service_flows[1].dsid: found nothing, allowed: a DSID: the bonding group "
		 "has several channels"},
		{LIVE_ADD, LIVE_UPSTREAM_CHANNEL,
		 "{id: 5, type: ofdma, rate: '1 Gbps', session: 5, ranging_session: 5}",
		 "upstream_channel.ranging_session: found \"5\" again, allowed: it once (first in "
		 "the same request)"},
		{LIVE_SET, LIVE_GROUP, "{rate_limit: fast}",
		 "rate_limit: found \"fast\", allowed: none, or a rate such as \"1.89 Gbps\", 1 "
		 "kbps to 1 Tbps"},
		{LIVE_ADD, LIVE_GROUP, "{}",
		 "request: found the group itself, allowed: to set its keys"},
		{LIVE_ADD, LIVE_MODEM, "[]",
		 "request: found no map, allowed: the keys of an object"},
	};
	struct live_group l = live_of(LIVE_SMALL);

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		expect_refused(&l, all[i].verb, all[i].object, all[i].text, all[i].line);
	live_group_free(&l);
}

/* The upstream takes its settings from the group of a change, whatever differs in it. */
static void a_limit_comes_with_the_rest_of_the_group(void **state) {
	struct live_group l = live_of(LIVE_SMALL);
	struct live_changes changes;
	char why[LIVE_LINE];

	(void)state;
	assert_true(ask(&l, LIVE_SET, LIVE_GROUP, "{rate_limit: '7 Gbps'}", &changes, why));
	assert_int_equal(changes.count, 1);
	assert_int_equal(changes.list[0].group->max_frame, l.sg.max_frame);
	assert_memory_equal(&changes.list[0].group->upstream, &l.sg.upstream,
			    sizeof(l.sg.upstream));
	assert_int_equal(changes.list[0].group->rate_limit, 7000000000);
	live_changes_free(&changes);
	live_group_free(&l);
}

/* Once it is taken, a change has what was there before. */
static void limits_change_places(void **state) {
	struct live_group l = live_of(LIVE_SMALL);
	const uint64_t rate = l.sg.rate_limit, timeout = l.sg.cpe_timeout_ns;
	struct live_changes changes;
	char why[LIVE_LINE];

	(void)state;
	assert_true(ask(&l, LIVE_SET, LIVE_GROUP, "{rate_limit: '7 Gbps', cpe_timeout: '5 s'}",
			&changes, why));
	live_changes_take(&l, &changes);
	assert_int_equal(l.sg.rate_limit, 7000000000);
	assert_int_equal(l.sg.cpe_timeout_ns, 5000000000);
	assert_int_equal(changes.list[0].group->rate_limit, rate);
	assert_int_equal(changes.list[0].group->cpe_timeout_ns, timeout);
	live_changes_free(&changes);
	live_group_free(&l);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_limit_comes_with_the_rest_of_the_group),
		cmocka_unit_test(limits_change_places),
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(keys_are_told_to_none_but_who_asks),
		cmocka_unit_test(objects_come_and_go),
		cmocka_unit_test(some_keys_are_set),
		cmocka_unit_test(what_a_file_may_not_say),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
