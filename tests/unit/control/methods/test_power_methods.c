/* SPDX-License-Identifier: BSD-3-Clause */
/* What a client is told of frequencies and pauses, and what it may change of them. */
#include "test_main.h"

#include "asking_bench.h"
#include "power/live/power.h"

TEST(without_a_governor) {
	expect_told("power.get", "{}", "driver=none cores=[0]");
	refused("power.set", "{empty_rounds: 7}", RPC_REFUSED, "a replay has no frequencies");
}

TEST(what_is_not_given_stays) {
	const struct power_place place = {.by_hand = true};
	struct power_config *has = &bench->server.power;
	struct power *p = power_create(&bench->server, &place);

	assert_non_null(p);
	methods.power = p;
	json_decref(told("power.set", "{empty_rounds: 7, longest_pause_us: 30}"));
	assert_int_equal(has->empty_rounds, 7);
	assert_int_equal(has->longest_pause, 30000);
	expect_told("power.set", "{latency_us: 90}",
		    "empty_rounds=7 cores=[3] cores.0.core=1 cores.0.workers.0=0 cores.1.core=2 "
		    "cores.1.workers.0=1 cores.2.core=3 cores.2.workers.0=2");
	assert_int_equal(has->empty_rounds, 7);
	assert_int_equal(has->longest_pause, 30000);
	assert_int_equal(has->latency, 90000);
	assert_int_equal(power_config_of(p)->latency, 90000); /* the governor's, too */
	json_decref(told("power.set", "{empty_rounds: 1000000}"));
	assert_int_equal(has->empty_rounds, 1000000);
	refused("power.set", "{empty_rounds: 1000001}", RPC_WRONG_PARAMS,
		"power.set: empty_rounds: found \"1000001\", allowed: a number, 1 to 1000000");
	methods.power = NULL;
	power_free(p);
}

ALL_TESTS(begin, end)
