/* SPDX-License-Identifier: BSD-3-Clause */
/* The loader on the quality of service of downstream flows: values, defaults, and sums. */
#include "test_main.h"
#include "test_model.h"

#define HEAD                                                                 \
	"channels:\n"                                                        \
	"  - {id: 1, type: ofdm, rate: 1.89 Gbps, session: 1}\n"             \
	"  - {id: 2, type: ofdm, rate: 1 Gbps, session: 2}\n"                \
	"bonding_groups: [{id: 1, channels: [1]}, {id: 2, channels: [2]},\n" \
	"  {id: 3, channels: [1, 2]}]\n"                                     \
	"modems:\n"
#define MODEM(n, more)                                                                          \
	"  - {mac: \"02:01:00:00:00:0" #n "\", addresses: [10.0.0." #n "], bonding_group: 1,\n" \
	"     security: {said: " #n ", cipher: none}, " more "\n"                               \
	"     service_flows: ["

/* One modem with one flow, whose keys these are. */
#define FLOW(keys) HEAD MODEM(1, ) "{id: 1" keys "}]}\n"
#define AT_FLOW "sg.yaml:9: modems[0].service_flows[0]."

/* The only flow of a file that is right. */
static struct service_flow flow_of(const char *text) {
	struct loaded loaded = load_text(text);
	struct service_flow flow = {0};

	assert_string_equal(loaded.said, "");
	flow = loaded.sg.modems[0].service_flows[0];
	unload(&loaded);
	return flow;
}

TEST(every_value) {
	struct service_flow flow = flow_of(
		FLOW(", weight: 255, max_sustained_rate: 10 Mbps, max_traffic_burst: 2 kB,\n"
		     "peak_rate: 10 Mbps, min_reserved_rate: 10 Mbps, min_reserved_packet: 2000,\n"
		     "min_buffer: 1 B, buffer: 2 kB, max_buffer: 64 MiB, aqm: wred,\n"
		     "wred: {min_threshold: 0, max_threshold: 1, max_probability_inverse: 3, "
		     "weight: 15}"));

	assert_int_equal(flow.weight, 255);
	assert_int_equal(flow.sustained_rate, 10000000);
	assert_int_equal(flow.traffic_burst, 2000);
	assert_int_equal(flow.peak_rate, 10000000);
	assert_int_equal(flow.reserved_rate, 10000000);
	assert_int_equal(flow.reserved_packet, 2000);
	assert_int_equal(flow.min_buffer, 1);
	assert_int_equal(flow.buffer, 2000);
	assert_int_equal(flow.max_buffer, 64 << 20);
	assert_int_equal(flow.aqm, AQM_WRED);
	assert_int_equal(flow.wred.min_threshold, 0);
	assert_int_equal(flow.wred.max_threshold, 1);
	assert_int_equal(flow.wred.max_probability, 21845); /* a third of 65536, rounded */
	assert_int_equal(flow.wred.weight, 15);
	flow = flow_of(FLOW(", aqm: docsis-pie, latency_target: 256 ms"));
	assert_int_equal(flow.aqm, AQM_DOCSIS_PIE);
	assert_int_equal(flow.latency_target_ns, 256000000);
}

TEST(defaults_are_what_was_before) {
	struct service_flow flow = flow_of(FLOW(""));

	assert_int_equal(flow.bonding_group, 0);
	assert_int_equal(flow.weight, 1);
	assert_int_equal(flow.sustained_rate, 0);
	assert_int_equal(flow.peak_rate, 0);
	assert_int_equal(flow.reserved_rate, 0);
	assert_int_equal(flow.reserved_packet, 64);
	assert_int_equal(flow.min_buffer, 64000);
	assert_int_equal(flow.buffer, 512000);
	assert_int_equal(flow.max_buffer, 512000);
	assert_int_equal(flow.aqm, AQM_TAIL_DROP);
	assert_int_equal(flow.latency_target_ns, 10000000);
}

TEST(defaults_follow_the_buffer) {
	static const struct {
		const char *text;
		uint32_t buffer, least, low, high;
	} cases[] = {
		{FLOW(", aqm: wred, buffer: 1 B"), 1, 1, 0, 1},
		{FLOW(", aqm: wred, buffer: 2 B, wred: {}"), 2, 2, 0, 2},
		{FLOW(", aqm: wred, buffer: 3044 B"), 3044, 3044, 761, 2283},
		{FLOW(", aqm: wred, buffer: 20000"), 20000, 3044, 5000, 15000},
		{FLOW(", aqm: wred, buffer: 8 MB"), 8000000, 1000000, 2000000, 6000000},
		{FLOW(", aqm: wred, buffer: 8 MB, wred: {max_threshold: 2000001}"), 8000000,
		 1000000, 2000000, 2000001},
		{FLOW(", aqm: wred, buffer: 8 MB, wred: {min_threshold: 5999999}"), 8000000,
		 1000000, 5999999, 6000000},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		struct service_flow flow = flow_of(cases[i].text);

		assert_int_equal(flow.buffer, cases[i].buffer);
		assert_int_equal(flow.min_buffer, cases[i].least);
		assert_int_equal(flow.max_buffer, cases[i].buffer);
		assert_int_equal(flow.wred.min_threshold, cases[i].low);
		assert_int_equal(flow.wred.max_threshold, cases[i].high);
		assert_int_equal(flow.wred.max_probability, 6554);
		assert_int_equal(flow.wred.weight, 9);
	}
}

TEST(a_burst_grows_with_its_rate) {
	static const struct {
		const char *text;
		uint32_t burst;
	} cases[] = {
		{FLOW(", max_sustained_rate: 1 kbps"), 3044},
		{FLOW(", max_sustained_rate: 2435200 bps"), 3044},
		{FLOW(", max_sustained_rate: 2436 kbps"), 3045},
		{FLOW(", max_sustained_rate: 1 Gbps"), 1250000},
		{FLOW(", max_sustained_rate: 1 Tbps"), 1250000000},
		{FLOW(", max_sustained_rate: 1 Tbps, max_traffic_burst: 2 GB"), 2000000000},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		assert_int_equal(flow_of(cases[i].text).traffic_burst, cases[i].burst);
}

TEST(a_modem_has_limits_of_its_own) {
	static const char limited[] = MODEM(1, "max_aggregate_rate: 100 Mbps,") "{id: 1}]}\n";
	static const char burst[] =
		MODEM(2, "max_aggregate_rate: 1 kbps, max_aggregate_burst: 2000,") "{id: 2}]}\n";
	static const char plain[] = MODEM(3, ) "{id: 3}]}\n";
	char text[2000];
	struct loaded loaded;
	const struct modem *modem;

	snprintf(text, sizeof(text), "%s%s%s%s", HEAD, limited, burst, plain);
	loaded = load_text(text);
	assert_string_equal(loaded.said, "");
	modem = loaded.sg.modems;
	assert_int_equal(modem[0].aggregate_rate, 100000000);
	assert_int_equal(modem[0].aggregate_burst, 125000);
	assert_int_equal(modem[1].aggregate_rate, 1000);
	assert_int_equal(modem[1].aggregate_burst, 2000);
	assert_int_equal(modem[2].aggregate_rate, 0);
	unload(&loaded);
}

TEST(a_flow_may_have_its_own_bonding_group) {
	struct loaded loaded =
		load_text(HEAD MODEM(1, ) "{id: 1}, {id: 2, bonding_group: 2},\n"
					  "{id: 3, bonding_group: 3, dsid: 1},\n"
					  "{id: 4, bonding_group: 3, state: provisioned}]}\n");
	const struct service_flow *flow;

	assert_string_equal(loaded.said, "");
	flow = loaded.sg.modems[0].service_flows;
	assert_int_equal(flow[0].bonding_group, 0);
	assert_int_equal(flow[1].bonding_group, 1);
	assert_int_equal(flow[2].bonding_group, 2);
	assert_true(flow[2].has_dsid);
	assert_int_equal(flow[3].bonding_group, 2);
	unload(&loaded);
	/* the flow's own group decides whether a DSID is needed, in both directions */
	expect_mistakes(FLOW(", bonding_group: 3"), 1,
			AT_FLOW "dsid: found nothing, allowed: a DSID: the bonding group has "
				"several channels\n");
	expect_mistakes(HEAD "  - {mac: \"02:01:00:00:00:01\", addresses: [10.0.0.1], "
			     "bonding_group: 3,\n"
			     "     security: {said: 1, cipher: none},\n"
			     "     service_flows: [{id: 1, bonding_group: 1}]}\n",
			0, "");
	expect_mistakes(FLOW(", bonding_group: 4"), 1,
			AT_FLOW "bonding_group: found \"4\", allowed: the id of a bonding group of "
				"this file\n");
}

TEST(what_a_modem_reserves) {
	static const char exactly[] = HEAD MODEM(
		1, "max_aggregate_rate: 10 Mbps,") "{id: 1, min_reserved_rate: 4 Mbps},\n"
						   "{id: 2, min_reserved_rate: 6 Mbps},\n"
						   "{id: 3, min_reserved_rate: 1 Mbps, state: "
						   "provisioned}]}\n";
	static const char more[] = HEAD MODEM(
		1, "max_aggregate_rate: 10 Mbps,") "{id: 1, min_reserved_rate: 4 Mbps},\n"
						   "{id: 2, min_reserved_rate: 6.001 Mbps}]}\n";

	expect_mistakes(exactly, 0, "");
	expect_mistakes(more, 1,
			"sg.yaml:8: modems[0].max_aggregate_rate: found \"10 Mbps\", allowed: at "
			"least 10.001 Mbps, the sum of its flows' min_reserved_rate\n");
}

TEST(what_a_bonding_group_has_to_reserve) {
	static const char exactly[] = HEAD MODEM(
		1, ) "{id: 1, min_reserved_rate: 0.89 Gbps},\n"
		     "{id: 2, min_reserved_rate: 1 Gbps, bonding_group: 2},\n"
		     "{id: 3, min_reserved_rate: 2.89 Gbps, bonding_group: 3, dsid: 1}]}\n" MODEM(
			     2, ) "{id: 4, min_reserved_rate: 1 Gbps},\n"
				  "{id: 5, min_reserved_rate: 1 Gbps, bonding_group: 3, state: "
				  "provisioned}]}\n";
	static const char more[] = HEAD MODEM(
		1, ) "{id: 1, min_reserved_rate: 0.9 Gbps},\n"
		     "{id: 3, min_reserved_rate: 2.9 Gbps, bonding_group: 3, dsid: 1}]}\n" MODEM(
			     2, ) "{id: 4, min_reserved_rate: 1 Gbps}]}\n";

	expect_mistakes(exactly, 0, "");
	expect_mistakes(more, 2,
			"sg.yaml:4: bonding_groups[0].channels: found channels of 1.89 Gbps, "
			"allowed: at least 1.9 Gbps, the sum of its flows' min_reserved_rate\n"
			"sg.yaml:5: bonding_groups[2].channels: found channels of 2.89 Gbps, "
			"allowed: at least 2.9 Gbps, the sum of its flows' min_reserved_rate\n");
}
