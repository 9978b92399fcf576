/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client is told of frequencies and pauses, and what it may change of them. */
#include "test_main.h"

#include "asking.h"
#include "power/live/power.h"

#define CORES 3

TEST(without_a_governor) {
	json_t *was = told("power.get", "{}");

	assert_string_equal(word(was, "driver"), "none");
	assert_int_equal(json_array_size(at(was, "cores")), 0);
	json_decref(was);
	refused("power.set", "{empty_rounds: 7}", RPC_REFUSED, "a replay has no frequencies");
}

TEST(what_is_not_given_stays) {
	const struct power_place place = {.by_hand = true};
	struct power_config *has = &bench->server.power;
	struct power *p = power_create(&bench->server, &place);
	json_t *told_of;

	assert_non_null(p);
	methods.power = p;
	json_decref(told("power.set", "{empty_rounds: 7, longest_pause_us: 30}"));
	assert_int_equal(has->empty_rounds, 7);
	assert_int_equal(has->longest_pause, 30000);
	told_of = told("power.set", "{latency_us: 90}");
	assert_int_equal(has->empty_rounds, 7);
	assert_int_equal(has->longest_pause, 30000);
	assert_int_equal(has->latency, 90000);
	assert_int_equal(power_config_of(p)->latency, 90000); /* the governor's, too */
	assert_int_equal(number(told_of, "empty_rounds"), 7);
	assert_int_equal(json_array_size(at(told_of, "cores")), CORES);
	for (unsigned w = 0; w < CORES; w++) {
		char path[32];

		snprintf(path, sizeof(path), "cores.%u.core", w);
		assert_int_equal(number(told_of, path), bench->server.layout.cores[w]);
		snprintf(path, sizeof(path), "cores.%u.workers.0", w);
		assert_int_equal(number(told_of, path), w);
	}
	json_decref(told_of);
	json_decref(told("power.set", "{empty_rounds: 1000000}"));
	assert_int_equal(has->empty_rounds, 1000000);
	refused("power.set", "{empty_rounds: 1000001}", RPC_WRONG_PARAMS,
		"power.set: empty_rounds: found \"1000001\", allowed: a number, 1 to 1000000");
	methods.power = NULL;
	power_free(p);
}

ALL_TESTS(begin, end)
