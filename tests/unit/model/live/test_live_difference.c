/* SPDX-License-Identifier: BSD-3-Clause */
/* Two configurations and what lies between them: each kind of change, their order, places, refusals. */
#include "test_live_expect.h"
#include "test_main.h"

TEST(the_order_of_lists_is_no_difference) {
	struct live_group l = live_of(LIVE_SMALL);

	expect_changes(&l, LIVE_SMALL, "nothing");
	expect_changes(&l, LIVE_TOP "modems:\n" LIVE_MODEM_2 LIVE_MODEM_1, "nothing");
	expect_changes(
		&l,
		"name: sg\n"
		"channels:\n"
		"  - {id: 3, type: sc-qam, rate: 37.5 Mbps, session: 13, psp_extra: static}\n"
		"  - {id: 2, type: ofdm, rate: 1 Gbps, session: 12}\n"
		"  - {id: 1, type: ofdm, rate: 1 Gbps, session: 11}\n"
		"upstream_channels:\n"
		"  - {id: 2, type: sc-qam, rate: 30 Mbps, session: 23, ranging_session: 24}\n"
		"  - {id: 1, type: ofdma, rate: 100 Mbps, session: 21, request_session: 22}\n"
		"bonding_groups:\n"
		"  - {id: 2, channels: [3]}\n"
		"  - {id: 1, channels: [1, 2]}\n"
		"filter_groups:\n"
		"  - {id: 2, rules: [{family: llc, action: deny, ethertype: 0x86dd}]}\n"
		"  - {id: 1, rules: [{family: ipv4, action: deny, tos: 0x20/0xf0}]}\n"
		"modems:\n" LIVE_MODEM_2 LIVE_MODEM_1,
		"nothing");
	live_group_free(&l);
}

TEST(one_value_is_one_change) {
	static const struct {
		const char *from, *to, *changes;
	} all[] = {
		{"name: sg\n", "name: sg\nrate_limit: 5 Gbps\n", "1 limit changed"},
		{"name: sg\n", "name: sg\ncpe_timeout: 5 s\n", "1 limit changed"},
		{"session: 11", "session: 19", "1 channel changed"},
		{"rate: 37.5 Mbps", "rate: 42 Mbps", "1 channel changed"},
		{"psp_extra: static", "psp_extra: none", "1 channel changed"},
		{"session: 21", "session: 29", "1 upstream channel changed"},
		{"ranging_session: 24", "ranging_session: 25", "1 upstream channel changed"},
		{"channels: [1, 2]", "channels: [2, 1]", "1 bonding group changed"},
		{"channels: [1, 2]", "channels: [1, 2, 3]", "1 bonding group changed"},
		{"0x20/0xf0", "0x20/0xf8", "1 filter group changed"},
		{"action: deny, tos", "action: permit, tos", "1 filter group changed"},
		{"10.0.0.1,", "10.0.0.9,", "1 modem changed"},
		{"\"2001:db8::1\"]", "\"2001:db8::1\", 10.0.0.9]", "1 modem changed"},
		{"10.0.0.1, \"2001:db8::1\"", "\"2001:db8::1\", 10.0.0.1", "1 modem changed"},
		{"filter_groups: [2, 1]", "filter_groups: [1, 2]", "1 modem changed"},
		{"filter_groups: [2, 1]", "filter_groups: [2]", "1 modem changed"},
		{"max_aggregate_rate: 100", "max_aggregate_rate: 90", "1 modem changed"},
		{"0b0c0d0e0f", "0b0c0d0e00", "1 modem changed"},
		{"said: 1,", "said: 7,", "1 modem changed"},
		{"said: 1,", "said: 1, key_sequence: 1,", "1 modem changed"},
		{"priority: 3", "priority: 4", "1 modem changed"},
		{"weight: 4", "weight: 5", "1 modem changed"},
		{"dsid: 1", "dsid: 9", "1 modem changed"},
		{"latency_target: 20", "latency_target: 21", "1 modem changed"},
		{"id: 5, state: provisioned", "id: 5", "1 modem changed"},
		{"[{id: 4}, {id: 5, state: provisioned}]", "[{id: 4}]", "1 modem changed"},
		{"{id: 4}", "{id: 8}", "1 modem changed"},
		{"source_ports: 80", "source_ports: 81", "1 modem changed"},
		{"service_flow: 2}", "service_flow: 1}", "1 modem changed"},
		{"segment_header: false", "segment_header: true", "1 modem changed"},
		{"segment_header: false", "segment_header: false, priority: 1", "1 modem changed"},
		{"session: 23", "contention: {request_opportunities: 9}, session: 23",
		 "1 upstream channel changed"},
		{"{channel: 2, sid: 1}", "{channel: 2, sid: 9}", "1 modem changed"},
		{", {channel: 2, sid: 1}", "", "1 modem changed"},
		{"{id: 3, sids", "{id: 4, sids", "1 modem changed"},
		{"02:01:00:00:00:02", "02:01:00:00:00:03", "1 modem added, 1 modem removed"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
		struct live_group l = live_of(LIVE_SMALL);
		char *text = replaced(all[i].from, all[i].to);

		expect_changes(&l, text, all[i].changes);
		expect_changes(&l, text, "nothing");
		expect_changes(&l, LIVE_SMALL, all[i].changes);
		free(text);
		live_group_free(&l);
	}
}

/* Kinds that come or differ, and those that go, each behind the one before. */
static void expect_order(const struct live_changes *changes) {
	static const struct {
		enum live_object object;
		bool goes;
	} order[] = {
		{LIVE_FILTER_GROUP, false},
		{LIVE_CHANNEL, false},
		{LIVE_UPSTREAM_CHANNEL, false},
		{LIVE_BONDING_GROUP, false},
		{LIVE_MODEM, true},
		{LIVE_MODEM, false},
		{LIVE_BONDING_GROUP, true},
		{LIVE_UPSTREAM_CHANNEL, true},
		{LIVE_UPSTREAM_CHANNEL, true},
		{LIVE_CHANNEL, true},
		{LIVE_CHANNEL, true},
		{LIVE_FILTER_GROUP, true},
		{LIVE_FILTER_GROUP, true},
	};
	size_t met = 0;

	for (size_t i = 0; i < changes->count && met < ARRAY_COUNT(order); i++) {
		const struct live_change *c = &changes->list[i];

		while (met < ARRAY_COUNT(order) &&
		       (order[met].object != c->object || order[met].goes != (c->next == NULL)))
			met++;
	}
	assert_true(met < ARRAY_COUNT(order));
}

/* A new bonding group of a new channel, for a new modem with a new filter group; and back. */
TEST(objects_come_before_and_go_after_their_users) {
	static const char wide[] =
		"name: sg\n"
		"channels: [{id: 1, type: ofdm, rate: 1 Gbps, session: 11}, "
		"{id: 7, type: ofdm, rate: 1 Gbps, session: 17}]\n"
		"bonding_groups: [{id: 7, channels: [7]}]\n"
		"filter_groups: [{id: 7, rules: [{family: ipv4, action: deny}]}]\n"
		"upstream_channels: [{id: 7, type: ofdma, rate: 100 Mbps, session: 27}]\n"
		"modems:\n"
		"  - mac: \"02:01:00:00:00:07\"\n"
		"    addresses: [10.0.0.7]\n"
		"    filter_groups: [7]\n"
		"    bonding_group: 7\n"
		"    security: {said: 7, cipher: none}\n"
		"    service_flows: [{id: 7}]\n"
		"    upstream_service_flows: "
		"[{id: 8, sid_clusters: [{id: 0, sids: [{channel: 7, sid: 7}]}]}]\n" LIVE_MODEM_2;
	struct live_group l = live_of(LIVE_SMALL);
	char *moved = NULL;
	struct service_group next;
	struct live_changes changes;
	char why[LIVE_LINE];

	/* the second modem moves to what is new, as its old channels go */
	assert_true(asprintf(&moved, "%s", wide) > 0);
	memcpy(strstr(strstr(moved, "00:02"), "bonding_group: 2"), "bonding_group: 7", 16);
	memcpy(strstr(strstr(moved, "id: 6"), "channel: 1"), "channel: 7", 10);
	next = sg_of(moved);
	assert_true(live_difference(&l, &next, &changes, why));
	expect_order(&changes);
	live_changes_take(&l, &changes);
	live_changes_free(&changes);
	expect_same_as(&l, &next);
	expect_changes(&l, LIVE_SMALL,
		       "1 modem added, 1 modem changed, 1 modem removed, 2 filter groups added, "
		       "1 filter group removed, 2 bonding groups added, 1 bonding group removed, "
		       "2 upstream channels added, 1 upstream channel removed, "
		       "2 channels added, 1 channel removed");
	service_group_free(&next);
	free(moved);
	live_group_free(&l);
}

TEST(places_are_kept_and_given_again) {
	struct live_group l = live_of(LIVE_SMALL);
	uint32_t second = place_of(&l, "02:01:00:00:00:02");

	assert_int_equal(second, 1);
	/* one goes while another comes: its place is not given before */
	expect_changes(&l, LIVE_TOP "modems:\n" NEW_MODEM("1") LIVE_MODEM_2,
		       "1 modem added, 1 modem removed");
	assert_int_equal(place_of(&l, "02:01:00:00:01:01"), 2);
	assert_int_equal(place_of(&l, "02:01:00:00:00:02"), second);
	expect_changes(&l, LIVE_TOP "modems:\n" NEW_MODEM("2") NEW_MODEM("1") LIVE_MODEM_2,
		       "1 modem added");
	assert_int_equal(place_of(&l, "02:01:00:00:01:02"), 0);
	assert_int_equal(place_of(&l, "02:01:00:00:01:01"), 2);
	assert_int_equal(l.modems, 3);
	live_group_free(&l);
}

/* What one object gives up another may have in the same difference. */
TEST(values_move_between_objects) {
	struct live_group l = live_of(LIVE_SMALL);
	char *text = replaced("10.0.0.1,", "10.0.0.2,");
	char *second = strstr(strstr(text, "00:02"), "10.0.0.2");

	second[7] = '1';
	expect_changes(&l, text, "2 modems changed");
	memcpy(strstr(text, "{id: 1, dsid"), "{id: 4, dsid", 12);
	memcpy(strstr(text, "{id: 4},"), "{id: 1},", 8);
	memcpy(strstr(text, "session: 11"), "session: 12", 11);
	memcpy(strstr(strstr(text, "id: 2, type: ofdm"), "session: 12"), "session: 11", 11);
	expect_changes(&l, text, "2 modems changed, 2 channels changed");
	free(text);
	live_group_free(&l);
}

#define CROWD 60 /* modems */

/* One half of the modems has SG_MAX_MODEM_ADDRESSES addresses each, the other half one. */
static char *half_with_all_addresses(bool first_half) {
	size_t size = 1 << 16, used;
	char *text = malloc(size);
	unsigned address = 0;

	assert_non_null(text);
	used = (size_t)snprintf(text, size, "name: sg\nmax_modems: %d\n%smodems:\n", CROWD,
				strstr(LIVE_TOP, "channels:"));
	for (unsigned m = 0; m < CROWD; m++) {
		bool all = (m < CROWD / 2) == first_half;

		used += (size_t)snprintf(text + used, size - used,
					 "  - mac: '02:01:00:00:02:%02x'\n"
					 "    bonding_group: 2\n"
					 "    security: {said: 3, cipher: none}\n"
					 "    service_flows: [{id: %u}]\n"
					 "    addresses: [",
					 m, 1000 + m);
		for (unsigned a = all ? SG_MAX_MODEM_ADDRESSES : 1; a > 0; a--, address++)
			used += (size_t)snprintf(text + used, size - used, "10.9.%u.%u%s",
						 address / 256, address % 256,
						 a > 1 ? ", " : "]\n");
	}
	return text;
}

/* The index has the capacity for one configuration and not for two: what goes leaves it before what comes enters. */
TEST(a_full_index_takes_other_values) {
	char *one = half_with_all_addresses(true), *other = half_with_all_addresses(false);
	struct live_group l = live_of(one);

	for (unsigned i = 0; i < 2; i++) {
		expect_changes(&l, other, "60 modems changed");
		expect_changes(&l, one, "60 modems changed");
	}
	free(one);
	free(other);
	live_group_free(&l);
}

TEST(what_takes_a_new_start) {
	static const char *const all[][2] = {
		{"name: other\n", "name: differs, which takes a new start"},
		{"name: sg\nservice_group: 2\n", "service_group: differs, which takes a new start"},
		{"name: sg\nports: {rphy: {device: net_null7}}\n",
		 "ports.rphy.device: differs, which takes a new start"},
		{"name: sg\nports: {network: {vlan: 7}}\n",
		 "ports.network.vlan: differs, which takes a new start"},
		{"name: sg\nrphy: {mtu: 2000}\n", "rphy.mtu: differs, which takes a new start"},
		{"name: sg\nthreads: {upper_mac_core: 2}\n",
		 "threads.upper_mac_core: differs, which takes a new start"},
		{"name: sg\nmax_modems: 7\n", "max_modems: differs, which takes a new start"},
		{"name: sg\nmax_queued: 777\n", "max_queued: differs, which takes a new start"},
		{"name: sg\nmax_frame: 1999\n", "max_frame: differs, which takes a new start"},
		{"name: sg\nflow_cache: 0\n", "flow_cache: differs, which takes a new start"},
		{"name: sg\nfilter_default: deny\n",
		 "filter_default: differs, which takes a new start"},
		{"name: sg\nupstream: {held: 5 MB}\n",
		 "upstream.held: differs, which takes a new start"},
	};
	struct live_group l = live_of(LIVE_SMALL);

	for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
		char *text = replaced("name: sg\n", all[i][0]);

		expect_refusal(&l, text, all[i][1]);
		free(text);
	}
	live_group_free(&l);
}

/* Cores are a list of their own kind. */
TEST(cores_are_compared_by_what_they_are) {
	char *one =
		replaced("name: sg\n", "name: sg\nthreads: {layout: combined, cores: \"3,4\"}\n");
	char *other =
		replaced("name: sg\n", "name: sg\nthreads: {layout: combined, cores: \"3,5\"}\n");
	struct live_group l = live_of(one);

	expect_changes(&l, one, "nothing");
	expect_refusal(&l, other, "threads.cores[1]: differs, which takes a new start");
	free(one);
	free(other);
	live_group_free(&l);
}

TEST(changes_have_names) {
	struct live_group l = live_of(LIVE_SMALL);
	char *text = replaced("channels: [1, 2]", "channels: [1]");
	struct service_group next = sg_of(text);
	struct live_changes changes;
	char why[LIVE_LINE], name[64];

	assert_true(live_difference(&l, &next, &changes, why));
	assert_int_equal(changes.count, 1);
	live_change_name(&l, changes.list, name, sizeof(name));
	assert_string_equal(name, "bonding group 1");
	live_changes_free(&changes);
	service_group_free(&next);
	next = sg_of(LIVE_TOP "modems:\n" LIVE_MODEM_1);
	assert_true(live_difference(&l, &next, &changes, why));
	live_change_name(&l, changes.list, name, sizeof(name));
	assert_string_equal(name, "modem 02:01:00:00:00:02");
	live_changes_take(&l, &changes);
	live_change_name(&l, changes.list, name, sizeof(name));
	assert_string_equal(name, "modem 02:01:00:00:00:02");
	live_changes_free(&changes);
	service_group_free(&next);
	free(text);
	live_group_free(&l);
}
