/* SPDX-License-Identifier: BSD-3-Clause */
/* The upstream's closed loop: where it is exact, and that all bytes are somewhere. */
#include "test_main.h"

#include "upstream/loop.h"

static void read_text(const char *text, struct loop_scenario *scenario) {
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
	char error[LOOP_ERROR];

	if (!loop_scenario_read(json, scenario, error))
		fail_msg("%s", error);
	json_decref(json);
}

/* How early MAPs are made, and which requests they can know, follows from the delays and the longest way. */
TEST(test_leads_follow_from_the_delays) {
	static struct loop_scenario s;

	read_text("{\"flows\": [{\"km\": 8}, {\"km\": 2, \"km_max\": 10}]}", &s);
	assert_int_equal(s.channel.lead, 40960 + 22733 + 127488 + 27648 + 2 * 10240);
	assert_int_equal(s.channel.ack_delay, s.channel.lead + 2 * 27648);
	read_text("{\"flows\": [{}], \"channels\": {\"kind\": \"sc-qam\"}, "
		  "\"delays\": {\"cmts\": 0.001, \"decode\": 0.0005}}",
		  &s);
	assert_int_equal(s.channel.lead, 204800 + 22733 + 127488 + 27648 + 2 * 8192);
	assert_int_equal(s.channel.ack_delay, s.channel.lead + 102400 + 2 * 2560);
}

static struct loop *run(const char *text) {
	static struct loop_scenario scenario;
	static struct loop loop;

	read_text(text, &scenario);
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
