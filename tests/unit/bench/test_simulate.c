/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the downstream simulation, with a sender whose result is exact. */
#include "test_main.h"

#include "scenario.h"
#include "simulation.h"

/* At twice the sustained rate, half of the packets are dropped. The other half fills the buffer. */
TEST(constant_rate_above_sustained_fills_buffer) {
	static const char text[] =
		"{\"duration\": 11, \"warmup\": 1, \"service_flows\": [{\"sustained_rate\": 10e6, "
		"\"aqm\": \"tail-drop\", \"buffer\": 125000}], \"senders\": ["
		"{\"kind\": \"cbr\", \"rate\": 20e6, \"bytes\": 1000}]}";
	static struct simulation s;
	static struct scenario scenario;
	const struct flow_measure *m = &s.flows[0];
	json_t *json = json_loads(text, JSON_DECODE_ANY, NULL);
	char error[SCENARIO_ERROR];

	assert_true(scenario_read(json, &scenario, error));
	json_decref(json);
	assert_null(simulation_run(&s, &scenario));
	assert_in_range(m->packets, 12490, 12510);
	assert_in_range(m->drops[SCHEDULER_FLOW_FULL], 12490, 12510);
	assert_true(hdr_mean(m->delay) / MEASURE_UNIT > 98 &&
		    hdr_mean(m->delay) / MEASURE_UNIT < 101);
	simulation_free(&s);
}
