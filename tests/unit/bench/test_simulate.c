/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulation around the senders: its order of events, what it reads, and where it is exact. */
#include "test_main.h"

#include <string.h>

#include "events.h"
#include "scenario.h"
#include "simulation.h"

TEST(test_events_come_in_order) {
	struct random random = {.state = 7};
	struct events events = {0};
	struct event last = {0};

	for (unsigned i = 0; i < 5000; i++)
		assert_true(events_add(&events, random_below(&random, 500), NULL, NULL));
	for (unsigned i = 0; i < 5000; i++) {
		uint64_t next = events_next(&events);
		struct event e = events_take(&events);

		assert_int_equal(e.time, next);
		assert_true(i == 0 || last.time < e.time ||
			    (last.time == e.time && last.order < e.order));
		last = e;
		if (i % 3 == 0) /* new ones come while others are taken */
			assert_true(
				events_add(&events, e.time + random_below(&random, 9), NULL, NULL));
	}
	events_free(&events);
	assert_true(events_next(&events) == UINT64_MAX);
}

static bool read_text(const char *text, struct scenario *scenario, char error[SCENARIO_ERROR]) {
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
	bool good;

	assert_non_null(json);
	good = scenario_read(json, scenario, error);
	json_decref(json);
	return good;
}

#define FLOWS "\"service_flows\": [{\"sustained_rate\": 10e6}]"

TEST(test_mistakes_have_a_place) {
	static const char *const cases[][2] = {
		{"[]", "an object is expected"},
		{"{}", "service_flows: at least one"},
		{"{\"service_flows\": {}}", "service_flows: an array"},
		{"{\"service_flows\": [1]}", "service_flows[0]: an object"},
		{"{\"service_flow\": []}", "service_flow: no such key"},
		{"{\"duration\": \"1\", " FLOWS "}", "duration: allowed: 0.1 to 3600"},
		{"{\"duration\": 5, \"warmup\": 5, " FLOWS "}", "warmup: is not less"},
		{"{\"service_flows\": [{\"aqm\": \"red\"}]}",
		 "service_flows[0].aqm: allowed: tail-drop wred docsis-pie"},
		{"{\"service_flows\": [{\"wred\": {\"weight\": 16}}]}",
		 "service_flows[0].wred.weight: allowed: 1 to 15"},
		{"{\"channels\": [{}], " FLOWS "}", "channels[0].rate: is missing"},
		{"{\"senders\": [{\"service_flow\": 1}], " FLOWS "}",
		 "senders[0].service_flow: allowed: 0 to 0"},
		{"{\"senders\": [{\"kind\": \"cbr\"}], " FLOWS "}", "senders[0].rate: belongs"},
		{"{\"senders\": [{\"rtt\": 0.2, \"rtt_max\": 0.1}], " FLOWS "}",
		 "senders[0].rtt_max: is less"},
		{"{\"changes\": [{\"at\": 1}], " FLOWS "}",
		 "changes[0].sustained_rate: is missing"},
		{"{\"changes\": [{\"sustained_rate\": 1e6}], \"service_flows\": [{}]}",
		 "changes[0].service_flow: this one had no"},
	};
	static struct scenario scenario;
	char error[SCENARIO_ERROR];

	for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
		assert_false(read_text(cases[i][0], &scenario, error));
		if (strncmp(error, cases[i][1], strlen(cases[i][1])) != 0)
			fail_msg("%s: \"%s\", not \"%s\"", cases[i][0], error, cases[i][1]);
	}
	assert_true(read_text("{" FLOWS "}", &scenario, error));
	assert_string_equal(error, "");
}

static struct simulation *run(const char *text) {
	static struct simulation simulation;
	static struct scenario scenario;
	char error[SCENARIO_ERROR];

	assert_true(read_text(text, &scenario, error));
	assert_null(simulation_run(&simulation, &scenario));
	return &simulation;
}

/* Below the rate nothing waits, and all that is sent arrives. */
TEST(test_constant_rate_below_the_sustained) {
	struct simulation *s = run("{\"duration\": 10, \"warmup\": 1, " FLOWS ", \"senders\": ["
				   "{\"kind\": \"cbr\", \"rate\": 8e6, \"bytes\": 1000}]}");

	assert_in_range(s->flows[0].packets, 8999, 9001);
	assert_int_equal(hdr_max(s->flows[0].delay), 0);
	assert_true(s->flows[0].capacity == 9. * 10e6 / 8);
	simulation_free(s);
}

/* Twice the rate: half of it is lost, and who stays has waited for the whole buffer. */
TEST(test_constant_rate_above_the_sustained) {
	struct simulation *s = run(
		"{\"duration\": 11, \"warmup\": 1, \"service_flows\": [{\"sustained_rate\": 10e6, "
		"\"aqm\": \"tail-drop\", \"buffer\": 125000}], \"senders\": ["
		"{\"kind\": \"cbr\", \"rate\": 20e6, \"bytes\": 1000}]}");
	const struct flow_measure *m = &s->flows[0];

	assert_in_range(m->packets, 12490, 12510);
	assert_in_range(m->drops[SCHEDULER_FLOW_FULL], 12490, 12510);
	assert_true(hdr_mean(m->delay) / MEASURE_UNIT > 98 &&
		    hdr_mean(m->delay) / MEASURE_UNIT < 101);
	simulation_free(s);
}
