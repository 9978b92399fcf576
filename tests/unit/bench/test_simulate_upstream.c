/* SPDX-License-Identifier: BSD-3-Clause */
/* The upstream's closed loop: what it reads, where it is exact, and that all bytes are somewhere. */
#include "test_main.h"

#include <string.h>

#include "upstream/loop.h"

static bool read_text(const char *text, struct loop_scenario *scenario, char error[LOOP_ERROR]) {
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
	bool good;

	assert_non_null(json);
	good = loop_scenario_read(json, scenario, error);
	json_decref(json);
	return good;
}

TEST(test_mistakes_have_a_place) {
	static const char *const cases[][2] = {
		{"[]", "an object is expected"},
		{"{}", "flows: at least one"},
		{"{\"flows\": [1]}", "flows[0]: an object"},
		{"{\"duration\": 5, \"warmup\": 5, \"flows\": [{}]}", "warmup: is not less"},
		{"{\"flows\": [{}, {\"type\": \"best\"}]}", "flows[1].type: allowed: best-effort "},
		{"{\"flows\": [{\"km\": 10, \"km_max\": 9}]}", "flows[0].km_max: is less"},
		{"{\"flows\": [{\"conduct\": \"beyond\"}]}", "flows[0].conduct: allowed: honest "},
		{"{\"flows\": [{\"count\": 10000}, {\"count\": 10000}]}", "flows: at most 16000"},
		{"{\"channels\": {\"kind\": 1}, \"flows\": [{}]}", "channels.kind: allowed"},
		{"{\"channels\": {\"count\": 65}, \"flows\": [{}]}", "channels.count: allowed"},
		{"{\"delays\": {\"x\": 1}, \"flows\": [{}]}", "delays.x: no such key"},
		{"{\"flows\": [{\"sizes\": [{\"share\": 2}]}]}",
		 "flows[0].sizes[0].share: allowed"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static struct loop_scenario scenario;
		char error[LOOP_ERROR];

		assert_false(read_text(cases[i][0], &scenario, error));
		if (strncmp(error, cases[i][1], strlen(cases[i][1])) != 0)
			fail_msg("%s: %s", cases[i][0], error);
	}
}

/* How early MAPs are made, and which requests they can know, follows from the delays and the longest way. */
TEST(test_leads_follow_from_the_delays) {
	static struct loop_scenario s;
	char error[LOOP_ERROR];

	assert_true(
		read_text("{\"flows\": [{\"km\": 8}, {\"km\": 2, \"km_max\": 10}]}", &s, error));
	assert_int_equal(s.channel.lead, 40960 + 22733 + 127488 + 27648 + 2 * 10240);
	assert_int_equal(s.channel.ack_delay, s.channel.lead + 2 * 27648);
	assert_true(read_text("{\"flows\": [{}], \"channels\": {\"kind\": \"sc-qam\"}, "
			      "\"delays\": {\"cmts\": 0.001, \"decode\": 0.0005}}",
			      &s, error));
	assert_int_equal(s.channel.lead, 204800 + 22733 + 127488 + 27648 + 2 * 8192);
	assert_int_equal(s.channel.ack_delay, s.channel.lead + 102400 + 2 * 2560);
}

static struct loop *run(const char *text) {
	static struct loop_scenario scenario;
	static struct loop loop;
	char error[LOOP_ERROR];

	if (!read_text(text, &scenario, error))
		fail_msg("%s", error);
	assert_true(loop_setup(&loop, &scenario, NULL));
	assert_null(loop_run(&loop));
	return &loop;
}

/* What the flows' packets had is what was carried: the measures see each byte once. */
TEST(test_bytes_are_seen_once) {
	struct loop *l = run("{\"duration\": 0.5, \"flows\": [{\"count\": 20, \"rate\": 5e6}, "
			     "{\"rate\": 5e5, \"label\": \"one\"}]}");
	uint64_t carried = l->measures[0].bytes + l->measures[1].bytes, sum = 0;
	json_t *result = loop_result(l);
	const json_t *flow = json_array_get(json_object_get(result, "flows"), 1);

	assert_int_equal(carried, l->access_after.sent);
	for (uint32_t i = 0; i < 21; i++)
		sum += l->carried[i];
	assert_int_equal(sum, carried);
	assert_int_equal(l->carried[20], l->measures[1].bytes);
	assert_int_equal(json_integer_value(json_object_get(flow, "least_bytes")), l->carried[20]);
	assert_string_equal(json_string_value(json_object_get(flow, "label")), "one");
	json_decref(result);
	loop_free(l);
}
