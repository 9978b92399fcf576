/* SPDX-License-Identifier: BSD-3-Clause */
/* The simulation around the senders: its order of events, and where it is exact. */
#include "test_main.h"

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

#define FLOWS "\"service_flows\": [{\"sustained_rate\": 10e6}]"

static struct simulation *run(const char *text) {
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
	static struct simulation simulation;
	static struct scenario scenario;
	char error[SCENARIO_ERROR];

	assert_true(scenario_read(json, &scenario, error));
	assert_string_equal(error, "");
	json_decref(json);
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
