/* SPDX-License-Identifier: BSD-3-Clause */
/* Two configurations compared: what may change while traffic runs, and what refuses the whole. */
#include "test_model.h"

#include "server/reload_compare.h"

/* Every part of a service group that the loader has a key for. */
static const char text[] =
	"name: reload\n"
	"service_group: 7\n"
	"ports:\n"
	"  network: {device: net_null0, queue_size: 1024}\n"
	"  rphy: {device: net_null1}\n"
	"  control: {device: net_null2}\n"
	"max_frame: 1522\n"
	"threads: {downstream: 1ds1t, main_core: 0, upper_mac_core: 1}\n"
	"rphy: {core_ip: 192.0.2.1, rpd_ip: 192.0.2.2, mtu: 1500, flush: 50 us, max_segments: 9}\n"
	"rate_limit: 10 Gbps\n"
	"cpe_timeout: 300 s\n"
	"filter_default: permit\n"
	"channels:\n"
	"  - {id: 1, type: ofdm, rate: 1 Gbps, session: 0x10001, profile: 3}\n"
	"  - {id: 2, type: ofdm, rate: 500 Mbps, session: 0x10002, psp_extra: static}\n"
	"  - {id: 3, type: sc-qam, rate: 40 Mbps, session: 0x10003}\n"
	"bonding_groups:\n"
	"  - {id: 1, channels: [1, 2]}\n"
	"  - {id: 2, channels: [1]}\n"
	"filter_groups:\n"
	"  - {id: 1, rules: [{family: ipv4, action: deny, protocol: 17, tos: 0x40/0xe0}]}\n"
	"upstream: {verify_crc: false, held: 4 MB}\n"
	"upstream_channels: [{id: 1, type: ofdma, rate: 90 Mbps, session: 0x20001}]\n"
	"modems:\n"
	"  - mac: '02:01:00:00:00:01'\n"
	"    addresses: [10.0.0.1, '2001:db8:0:1::1']\n"
	"    cpe_limit: 4\n"
	"    filter_groups: [1]\n"
	"    bonding_group: 1\n"
	"    max_aggregate_rate: 300 Mbps\n"
	"    security: {said: 1, key: 000102030405060708090a0b0c0d0e0f,\n"
	"               iv: 101112131415161718191a1b1c1d1e1f, key_sequence: 5}\n"
	"    service_flows:\n"
	"      - {id: 11, dsid: 0x11, max_sustained_rate: 100 Mbps, peak_rate: 200 Mbps}\n"
	"      - {id: 12, dsid: 0x12, priority: 5, aqm: wred}\n"
	"    classifiers: [{family: ipv6, source: '2001:db8::/32', service_flow: 12}]\n"
	"    upstream_service_flows:\n"
	"      - {id: 21, sid_clusters: [{id: 0, sids: [{channel: 1, sid: 5}]}]}\n"
	"  - mac: '02:01:00:00:00:02'\n"
	"    addresses: [10.0.0.2]\n"
	"    bonding_group: 2\n"
	"    security: {said: 2, cipher: none}\n"
	"    service_flows: [{id: 13, min_reserved_rate: 1 Mbps}, {id: 14, state: provisioned}]\n";

/* The text with `to` in the place of `from`, which it holds once. */
static struct loaded load_varied(const char *from, const char *to) {
	char varied[sizeof(text) + 256];
	const char *at = strstr(text, from);
	struct loaded loaded;

	assert_non_null(at);
	assert_null(strstr(at + 1, from));
	snprintf(varied, sizeof(varied), "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
	loaded = load_text(varied);
	if (loaded.mistakes > 0)
		fail_msg("%s: %s", to, loaded.said);
	return loaded;
}

static void nothing_differs(void **state) {
	struct loaded a = load_text(text), b = load_text(text);
	struct reload_changes changes;
	char why[256];

	(void)state;
	assert_int_equal(a.mistakes, 0);
	assert_true(reload_compare(&a.sg, &b.sg, &changes, why, sizeof(why)));
	assert_int_equal(changes.count, 0);
	free(changes.list);
	unload(&a);
	unload(&b);
}

/* What changes with each of these; the order in the file does not matter. */
static void quality_of_service(void **state) {
	static const struct {
		const char *from, *to;
		struct qos_change change;
	} cases[] = {
		{"rate_limit: 10 Gbps", "rate_limit: none", {QOS_RATE_LIMIT, 0, 0, 0}},
		{"rate: 500 Mbps", "rate: 600 Mbps", {QOS_CHANNEL, 1, 0, 0}},
		{"rate: 40 Mbps", "rate: 1 kbps", {QOS_CHANNEL, 2, 0, 0}},
		{"channels: [1, 2]", "channels: [2, 1]", {QOS_GROUP, 0, 0, 0}},
		{"channels: [1, 2]", "channels: [1, 2, 3]", {QOS_GROUP, 0, 0, 0}},
		{"channels: [1, 2]", "channels: [3]", {QOS_GROUP, 0, 0, 0}}, /* DSIDs stay */
		{"channels: [1]", "channels: [3]", {QOS_GROUP, 1, 0, 0}},
		{"max_aggregate_rate: 300 Mbps", "max_aggregate_rate: none", {QOS_MODEM, 0, 0, 0}},
		{"max_aggregate_rate: 300 Mbps",
		 "max_aggregate_rate: 300 Mbps\n    max_aggregate_burst: 9 kB",
		 {QOS_MODEM, 0, 0, 0}},
		{"peak_rate: 200 Mbps", "peak_rate: 300 Mbps", {QOS_FLOW, 0, 0, 0}},
		{"dsid: 0x11", "dsid: 0x11, bonding_group: 2", {QOS_FLOW, 0, 0, 0}},
		{"dsid: 0x11", "dsid: 0x11, max_traffic_burst: 7 kB", {QOS_FLOW, 0, 0, 0}},
		{"dsid: 0x11", "dsid: 0x11, weight: 3", {QOS_FLOW, 0, 0, 0}},
		{"priority: 5", "priority: 6", {QOS_FLOW, 1, 0, 1}},
		{"priority: 5", "priority: 5, buffer: 1 MB", {QOS_FLOW, 1, 0, 1}},
		{"priority: 5", "priority: 5, min_buffer: 5 kB", {QOS_FLOW, 1, 0, 1}},
		{"priority: 5", "priority: 5, max_buffer: 1 MB", {QOS_FLOW, 1, 0, 1}},
		{"aqm: wred", "aqm: docsis-pie", {QOS_FLOW, 1, 0, 1}},
		{"aqm: wred", "aqm: docsis-pie, latency_target: 20 ms", {QOS_FLOW, 1, 0, 1}},
		{"aqm: wred", "aqm: wred, wred: {weight: 4}", {QOS_FLOW, 1, 0, 1}},
		{"min_reserved_rate: 1 Mbps", "min_reserved_rate: 2 Mbps", {QOS_FLOW, 2, 1, 0}},
		{"id: 13", "id: 13, min_reserved_packet: 128", {QOS_FLOW, 2, 1, 0}},
		{"state: provisioned", "state: provisioned, priority: 1", {QOS_FLOW, 3, 1, 1}},
	};
	struct loaded a = load_text(text);

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct loaded b = load_varied(cases[i].from, cases[i].to);
		struct reload_changes changes;
		char why[256] = "";

		if (!reload_compare(&a.sg, &b.sg, &changes, why, sizeof(why)))
			fail_msg("%s: %s", cases[i].to, why);
		assert_int_equal(changes.count, 1);
		assert_memory_equal(&changes.list[0], &cases[i].change, sizeof(cases[i].change));
		assert_int_equal(changes.by_object[cases[i].change.object], 1);
		free(changes.list);
		unload(&b);
	}
	unload(&a);
}

/* The group of a modem is that of its flows which name none; several changes come together. */
static void several(void **state) {
	struct loaded a = load_text(text);
	struct loaded b = load_varied("    bonding_group: 1\n    max_aggregate_rate: 300 Mbps\n",
				      "    bonding_group: 2\n    max_aggregate_rate: 1 Mbps\n");
	struct reload_changes changes;
	char why[256];

	(void)state;
	assert_true(reload_compare(&a.sg, &b.sg, &changes, why, sizeof(why)));
	assert_int_equal(changes.count, 3);
	assert_int_equal(changes.by_object[QOS_MODEM], 1);
	assert_int_equal(changes.by_object[QOS_FLOW], 2);
	free(changes.list);
	unload(&a);
	unload(&b);
}

/* Everything else that a file may hold, and the key that the line names. */
static const struct {
	const char *from, *to, *path;
} refusals[] = {
	{"name: reload", "name: another", "name: "},
	{"service_group: 7", "service_group: 8", "service_group: "},
	{"net_null0", "net_null3", "ports.network.device: "},
	{"queue_size: 1024", "queue_size: 2048", "ports.network.queue_size: "},
	{"net_null1", "net_null3", "ports.rphy.device: "},
	{"  control: {device: net_null2}\n", "", "ports.control.device: "},
	{"max_frame: 1522", "max_frame: 1518", "max_frame: "},
	{"1ds1t", "1ds2t", "threads.downstream: "},
	{"upper_mac_core: 1", "upper_mac_core: 2", "threads.upper_mac_core: "},
	{"rpd_ip: 192.0.2.2", "rpd_ip: 192.0.2.3", "rphy.rpd_ip: "},
	{"mtu: 1500", "mtu: 1501", "rphy.mtu: "},
	{"flush: 50 us", "flush: 51 us", "rphy.flush: "},
	{"max_segments: 9", "max_segments: 10", "rphy.max_segments: "},
	{"cpe_timeout: 300 s", "cpe_timeout: 301 s", "cpe_timeout: "},
	{"filter_default: permit", "filter_default: deny", "filter_default: "},
	{"session: 0x10002", "session: 0x10004", "channels[1].session: "},
	{"profile: 3", "profile: 4", "channels[0].profile: "},
	{"psp_extra: static", "psp_extra: none", "channels[1].psp_extra: "},
	{"session: 0x10003}\n",
	 "session: 0x10003}\n  - {id: 4, type: ofdm, rate: 1 Gbps, session: 9}\n", "channels: "},
	{"  - {id: 2, channels: [1]}\n", "  - {id: 2, channels: [1]}\n  - {id: 3, channels: [3]}\n",
	 "bonding_groups: "},
	{"protocol: 17", "protocol: 6", "filter_groups[0].rules[0].protocol: "},
	{"0x40/0xe0", "0x40/0xc0", "filter_groups[0].rules[0].tos: "},
	{", tos: 0x40/0xe0}]", "}, {family: ipv4, action: permit}]", "filter_groups[0].rules: "},
	{"held: 4 MB", "held: 5 MB", "upstream.held: "},
	{"verify_crc: false", "verify_crc: true", "upstream.verify_crc: "},
	{"rate: 90 Mbps", "rate: 91 Mbps", "upstream_channels[0].rate: "},
	{"02:01:00:00:00:01", "02:01:00:00:00:03", "modems[0].mac: "},
	{"10.0.0.1,", "10.0.0.9,", "modems[0].addresses[0]: "},
	{"[10.0.0.2]", "[10.0.0.2, 10.0.0.3]", "modems[1].addresses: "},
	{"cpe_limit: 4", "cpe_limit: 5", "modems[0].cpe_limit: "},
	{"filter_groups: [1]\n", "filter_groups: []\n", "modems[0].filter_groups: "},
	{"1f, key_sequence: 5", "1f, key_sequence: 7", "modems[0].security.key_sequence: "},
	{"000102030405", "100102030405", "modems[0].security.key: "},
	{"1f, key",
	 "1f, next_key: 00000000000000000000000000000000, "
	 "next_iv: 00000000000000000000000000000000, key",
	 "modems[0].security.next_key: "},
	{"said: 2", "said: 3", "modems[1].security.said: "},
	{"id: 13", "id: 15", "modems[1].service_flows[0].id: "},
	{", state: provisioned", "", "modems[1].service_flows[1].state: "},
	{"dsid: 0x11", "dsid: 0x13", "modems[0].service_flows[0].dsid: "},
	{"id: 13", "id: 13, dsid: 0x13", "modems[1].service_flows[0].dsid: "},
	{", {id: 14, state: provisioned}", "", "modems[1].service_flows: "},
	{"service_flow: 12", "service_flow: 11", "modems[0].classifiers[0].service_flow: "},
	{"db8::/32", "db8::/33", "modems[0].classifiers[0].source: "},
	{"sid: 5", "sid: 6", "modems[0].upstream_service_flows[0].sid_clusters[0].sids[0].sid: "},
};

static void refused(void **state) {
	struct loaded a = load_text(text);

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(refusals); i++) {
		struct loaded b = load_varied(refusals[i].from, refusals[i].to);
		struct reload_changes changes;
		char why[256] = "";

		assert_false(reload_compare(&a.sg, &b.sg, &changes, why, sizeof(why)));
		if (strncmp(why, refusals[i].path, strlen(refusals[i].path)) != 0)
			fail_msg("%s: found \"%s\"", refusals[i].path, why);
		assert_null(changes.list);
		assert_int_equal(changes.count, 0);
		unload(&b);
	}
	unload(&a);
}

/* A line that has too little room ends early. */
static void short_lines(void **state) {
	struct loaded a = load_text(text), b = load_varied("sid: 5", "sid: 6");
	char why[64];

	(void)state;
	for (size_t size = 1; size < sizeof(why); size++) {
		struct reload_changes changes;

		memset(why, 'x', sizeof(why));
		assert_false(reload_compare(&a.sg, &b.sg, &changes, why, size));
		assert_int_equal(strnlen(why, size), size - 1);
		assert_int_equal(why[size], 'x');
	}
	unload(&a);
	unload(&b);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_differs), cmocka_unit_test(quality_of_service),
		cmocka_unit_test(several),	   cmocka_unit_test(refused),
		cmocka_unit_test(short_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
