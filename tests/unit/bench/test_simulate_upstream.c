/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that the counters of upstream scheduler and modems agree in the simulated loop. */
#include "test_main.h"

#include "upstream/loop.h"

/* The default of `sizes`, without elements and with one that has no `bytes`. */
TEST(default_frames_have_138_bytes) {
	static const char text[] = "{\"flows\": [{}, {\"sizes\": [{}]}]}";
	static struct loop_scenario scenario;
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
	char error[LOOP_ERROR];

	assert_true(loop_scenario_read(json, &scenario, error));
	json_decref(json);
	assert_int_equal(scenario.groups[0].sizes[0].bytes, 138);
	assert_int_equal(scenario.groups[1].sizes[0].bytes, 138);
}

/* The measures, the flows and the access network count the same bytes. */
TEST(byte_counts_agree) {
	static const char text[] =
		"{\"duration\": 0.5, \"flows\": [{\"count\": 20, \"rate\": 5e6}, "
		"{\"rate\": 5e5, \"label\": \"one\"}]}";
	static struct loop_scenario scenario;
	static struct loop l;
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL), *result;
	uint64_t carried, sum = 0;
	char error[LOOP_ERROR];
	const json_t *flow;

	assert_true(loop_scenario_read(json, &scenario, error));
	json_decref(json);
	assert_true(loop_setup(&l, &scenario, NULL));
	assert_null(loop_run(&l));
	carried = l.measures[0].bytes + l.measures[1].bytes;
	result = loop_result(&l);
	flow = json_array_get(json_object_get(result, "flows"), 1);
	assert_int_equal(carried, l.access_after.sent);
	for (uint32_t i = 0; i < 21; i++)
		sum += l.carried[i];
	assert_int_equal(sum, carried);
	assert_int_equal(l.carried[20], l.measures[1].bytes);
	assert_int_equal(json_integer_value(json_object_get(flow, "least_bytes")), l.carried[20]);
	assert_string_equal(json_string_value(json_object_get(flow, "label")), "one");
	json_decref(result);
	loop_free(&l);
}
