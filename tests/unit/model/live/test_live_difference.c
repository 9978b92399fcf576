/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests difference.c: the changes between two configurations, by kind, and settings that need a restart. */
#include "live_kit.h"
#include "test_main.h"

TEST(each_changed_value_is_one_change) {
	static const struct {
		const char *from, *to, *changes;
	} all[] = {
		{"name: sg\n", "name: sg\nrate_limit: 5 Gbps\n", "1 limit changed"},
		{"name: sg\n", "name: sg\ncpe_timeout: 5 s\n", "1 limit changed"},
		{"name: sg\n", "crypto: {provider: cryptodev, device: crypto_a0}\n", "nothing"},
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
		{"priority: 3", "priority: 3, tos_overwrite: {or_mask: 8}", "1 modem changed"},
		{"id: 5, state: provisioned", "id: 5", "1 modem changed"},
		{"[{id: 4}, {id: 5, state: provisioned}]", "[{id: 4}]", "1 modem changed"},
		{"{id: 4}", "{id: 8}", "1 modem changed"},
		{"source_ports: 80", "source_ports: 81", "1 modem changed"},
		{"service_flow: 2}", "service_flow: 1}", "1 modem changed"},
		{"segment_header: false", "segment_header: true", "1 modem changed"},
		{"segment_header: false", "segment_header: false, priority: 1", "1 modem changed"},
		{"segment_header: false", "segment_header: false, tos_overwrite: {and_mask: 0}",
		 "1 modem changed"},
		{"session: 23", "contention: {request_opportunities: 9}, session: 23",
		 "1 upstream channel changed"},
		{"{channel: 2, sid: 1}", "{channel: 2, sid: 9}", "1 modem changed"},
		{", {channel: 2, sid: 1}", "", "1 modem changed"},
		{"{id: 3, sids", "{id: 4, sids", "1 modem changed"},
		{"02:01:00:00:00:02", "02:01:00:00:00:03", "1 modem added, 1 modem removed"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
		struct live_group l = make_live_group(LIVE_SMALL);
		char *text = replace_text(all[i].from, all[i].to);

		expect_changes(&l, text, all[i].changes);
		expect_changes(&l, text, "nothing");
		expect_changes(&l, LIVE_SMALL, all[i].changes);
		free(text);
		live_group_free(&l);
	}
}

/* The index has capacity for one configuration: removed addresses must leave it before others are added. */
TEST(full_index_accepts_replaced_values) {
	char *first_text = modems_text(60, SG_MAX_MODEM_ADDRESSES, 1);
	char *second_text = modems_text(60, 1, SG_MAX_MODEM_ADDRESSES);
	struct live_group l = make_live_group(first_text);

	for (unsigned i = 0; i < 2; i++) {
		expect_changes(&l, second_text, "60 modems changed");
		expect_changes(&l, first_text, "60 modems changed");
	}
	free(first_text);
	free(second_text);
	live_group_free(&l);
}

#define CORES(list) "threads: {layout: combined, cores: \"" list "\"}\n"

TEST(settings_that_need_a_restart_are_refused) {
	static const struct {
		const char *from, *to, *key;
	} all[] = {
		{"", "name: other\n", "name"},
		{"", "service_group: 2\n", "service_group"},
		{"", "ports: {rphy: {device: net_null7}}\n", "ports.rphy.device"},
		{"", "ports: {network: {vlan: 7}}\n", "ports.network.vlan"},
		{"", "rphy: {mtu: 2000}\n", "rphy.mtu"},
		{"", "threads: {upper_mac_core: 2}\n", "threads.upper_mac_core"},
		{CORES("3,4"), CORES("3,5"), "threads.cores[1]"},
		{"", "max_modems: 7\n", "max_modems"},
		{"", "max_queued: 777\n", "max_queued"},
		{"", "max_frame: 1999\n", "max_frame"},
		{"", "flow_cache: 0\n", "flow_cache"},
		{"", "filter_default: deny\n", "filter_default"},
		{"", "upstream: {held: 5 MB}\n", "upstream.held"},
		{"", "crypto: {generate_crc: false}\n", "crypto.generate_crc"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
		const char *rest = strchr(LIVE_SMALL, '\n') + 1; /* without the line of the name */
		char *from = NULL, *to = NULL, line[LIVE_LINE];
		struct live_group l;

		assert_true(asprintf(&from, "%s%s", all[i].from, rest) > 0);
		assert_true(asprintf(&to, "%s%s", all[i].to, rest) > 0);
		snprintf(line, sizeof(line), "%s: differs; this setting changes only at a restart",
			 all[i].key);
		l = make_live_group(from);
		expect_changes(&l, from, "nothing");
		expect_refused(&l, to, line);
		live_group_free(&l);
		free(from);
		free(to);
	}
}

/* A change has the same name before and after it is applied. */
TEST(change_name_survives_apply) {
	struct live_group l = make_live_group(LIVE_SMALL);
	struct service_group next = load_valid(LIVE_TOP "modems:\n" LIVE_MODEM_1);
	struct live_changes changes;
	char why[LIVE_LINE], name[64];

	assert_true(live_difference(&l, &next, &changes, why));
	live_change_name(&l, changes.list, name, sizeof(name));
	assert_string_equal(name, "modem 02:01:00:00:00:02");
	live_changes_apply(&l, &changes);
	live_change_name(&l, changes.list, name, sizeof(name));
	assert_string_equal(name, "modem 02:01:00:00:00:02");
	live_changes_free(&changes);
	service_group_free(&next);
	live_group_free(&l);
}
