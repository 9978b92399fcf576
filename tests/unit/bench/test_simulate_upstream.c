/* SPDX-License-Identifier: BSD-3-Clause */
/* The upstream's closed loop: what it reads, where it is exact, and that all bytes are somewhere. */
#include "test.h"

#include <math.h>
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

static void test_mistakes_have_a_place(void **state) {
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

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		static struct loop_scenario scenario;
		char error[LOOP_ERROR];

		assert_false(read_text(cases[i][0], &scenario, error));
		if (strncmp(error, cases[i][1], strlen(cases[i][1])) != 0)
			fail_msg("%s: %s", cases[i][0], error);
	}
}

/* How early MAPs are made, and which requests they can know, follows from the delays and the longest way. */
static void test_leads_follow_from_the_delays(void **state) {
	static struct loop_scenario s;
	char error[LOOP_ERROR];

	(void)state;
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

static void balance(const struct loop *l) {
	struct access_counts c;
	struct maps_counts m;

	access_counts(l->access, &c);
	maps_counts(l->maps, MAPS_NONE, &m);
	assert_int_equal(c.queued, c.sent + c.discarded + c.waiting);
	assert_int_equal(c.granted, c.used + c.unused + c.silent_bytes + c.late_bytes +
					    c.lost_bytes + c.coming);
	assert_int_equal(m.owed_bytes, m.asked_bytes - (m.granted_bytes - m.unsolicited_bytes) -
					       m.forgotten_bytes);
	assert_int_equal(c.late_grants + c.late_maps, 0);
	assert_int_equal(c.wrong_maps + c.wrong_ucd, 0);
	assert_int_equal(c.unknown_grants, 0);
	assert_int_equal(c.too_many, 0);
	assert_int_equal(m.late, 0);
	assert_int_equal(m.late_requests, 0);
}

/* Alone, nothing is asked twice; each packet is one request, one grant and one burst. */
static void test_a_light_flow(void **state) {
	struct loop *l = run("{\"duration\": 20, \"flows\": [{\"rate\": 30000, \"arrivals\": "
			     "\"regular\", \"jitter\": 0.01}]}");
	uint64_t packets = l->packets;

	(void)state;
	balance(l);
	assert_in_range(packets, 540, 545);
	assert_in_range(l->access_after.contention, packets - 1, packets);
	assert_in_range(l->access_after.bursts, packets - 1, packets);
	assert_int_equal(l->access_after.collisions, 0);
	assert_int_equal(l->access_after.unanswered, 0);
	assert_in_range(hdr_min(l->measures[0].latency), 1863 * 16, 2000 * 16); /* all delays */
	loop_free(l);
}

static void test_many_flows(void **state) {
	static const char *const texts[] = {
		"{\"duration\": 0.5, \"flows\": [{\"count\": 200, \"rate\": 2e6}], "
		"\"channels\": {\"count\": 3}}",
		"{\"duration\": 0.5, \"flows\": [{\"count\": 50, \"rate\": 2e5, \"channels\": 2}], "
		"\"channels\": {\"count\": 3, \"kind\": \"sc-qam\"}}",
		"{\"duration\": 0.5, \"flows\": [{\"count\": 50, \"rate\": 2e6, \"request_loss\": "
		"100000, \"map_loss\": 100000}, {\"conduct\": \"endless\"}, {\"conduct\": "
		"\"silent\"}]}",
		"{\"duration\": 0.5, \"flows\": [{\"count\": 3, \"rate\": 5e5, \"type\": \"rtps\", "
		"\"poll_interval\": 0.005}, {\"count\": 3, \"rate\": 5e5, \"type\": \"nrtps\", "
		"\"poll_interval\": 0.02}, {\"type\": \"ugs\", \"grant_bytes\": 146, \"grants\": "
		"1, "
		"\"grant_interval\": 0.01, \"grant_jitter\": 0.002, \"rate\": 110400}]}",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct loop *l = run(texts[i]);

		balance(l);
		assert_true(l->access_after.sent > 0);
		assert_true(l->access_after.waiting < l->access_after.queued / 4);
		loop_free(l);
	}
}

/* What the flows' packets had is what was carried: the measures see each byte once. */
static void test_bytes_are_seen_once(void **state) {
	struct loop *l = run("{\"duration\": 0.5, \"flows\": [{\"count\": 20, \"rate\": 5e6}, "
			     "{\"rate\": 5e5, \"label\": \"one\"}]}");
	uint64_t carried = l->measures[0].bytes + l->measures[1].bytes, sum = 0;
	json_t *result = loop_result(l);
	const json_t *flow = json_array_get(json_object_get(result, "flows"), 1);

	(void)state;
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

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_mistakes_have_a_place),
		cmocka_unit_test(test_leads_follow_from_the_delays),
		cmocka_unit_test(test_a_light_flow),
		cmocka_unit_test(test_many_flows),
		cmocka_unit_test(test_bytes_are_seen_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
