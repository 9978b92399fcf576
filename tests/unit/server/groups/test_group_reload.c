/* SPDX-License-Identifier: BSD-3-Clause */
/* What comes, goes and differs in one reload of groups on shared ports: each packet finds the group that the file says. */
#include "server/changes.h"

#include "group_file.h"

/* The group that was there first may have had its ports for itself. */
static void differs_and_comes(void **state) {
	(void)state;
	for (unsigned there = 1; there <= 2; there++) {
		life_bench_open(bench, there, GROUPS);
		load_next(there + 1, true);
		reload("1 service group added");
		all_is_told_apart();
		free_next();
		life_bench_close(bench);
	}
}

/* Addresses and sessions of the start are nobody's any more. */
static void what_went_is_gone(void) {
	uint64_t before = life_bench_totals(bench).port_dropped;

	for (unsigned g = 0; g < 2; g++) {
		for (unsigned modem = 0; modem < 2; modem++)
			assert_true(life_bench_down(bench, 0, &bench->file[g], 200, modem));
		assert_true(life_bench_up(bench, 0, &bench->file[g], serial++));
	}
	life_bench_pass(bench, 2 * MS);
	assert_int_equal(life_bench_totals(bench).port_dropped, before + 6);
}

/* An address and a session leave one group for another that comes in the same reload. */
static void what_moves_to_one_that_comes(void **state) {
	struct service_group *to = &next[2], *from = &next[0];
	struct ip_address address;
	uint32_t session;

	(void)state;
	for (unsigned there = 1; there <= 2; there++) {
		life_bench_open(bench, there, GROUPS);
		load_next(3, false);
		address = from->modems[1].addresses[0];
		session = from->upstream_channels[0].session;
		from->modems[1].addresses[0].bytes[3] += 100;
		from->upstream_channels[0].session += 0x10;
		to->modems[1].addresses[0] = address;
		to->upstream_channels[0].session = session;
		reload("service group 1: 1 modem changed, 1 upstream channel changed");
		all_is_told_apart();
		free_next();
		life_bench_close(bench);
	}
}

/* Two groups differ at a time, and a third one was there before. */
static void several_differ(void **state) {
	(void)state;
	life_bench_open(bench, 2, GROUPS);
	load_next(3, false);
	reload("1 service group added");
	all_is_told_apart();
	free_next();
	load_next(3, true);
	reload("service group 2: 2 modems changed, 1 upstream channel changed");
	all_is_told_apart();
	what_went_is_gone();
	free_next();
	load_next(3, false);
	reload("service group 1: 2 modems changed, 1 upstream channel changed");
	all_is_told_apart();
	free_next();
	life_bench_close(bench);
}

/* One goes while the other differs. */
static void differs_and_goes(void **state) {
	(void)state;
	life_bench_open(bench, 2, GROUPS);
	load_next(1, true);
	reload("1 service group removed");
	all_is_told_apart();
	free_next();
	life_bench_close(bench);
}

/* What a group with ports of its own has is nobody's on the shared ones, also after these have new tables. */
static void ports_of_its_own(void **state) {
	uint64_t before;

	(void)state;
	life_bench_open(bench, 2, GROUPS);
	load_next(2, false);
	life_bench_load(&next[2], 3, 1, 1, 1, 1);
	file.group_count = 3;
	reload("1 service group added");
	next[0].upstream_channels[0].session += 0x10;
	reload("service group 1: 1 upstream channel changed");
	before = life_bench_totals(bench).port_dropped;
	assert_true(life_bench_up(bench, LIFE_SHARED, &next[2], serial));
	life_bench_pass(bench, MS);
	assert_int_equal(life_bench_totals(bench).port_dropped, before + 1);
	assert_true(life_bench_up(bench, 1, &next[2], serial++));
	life_bench_pass(bench, MS);
	assert_int_equal(bench->taken_up[3], 1);
	free_next();
	life_bench_close(bench);
	file.group_count = 0;
}

static unsigned keys_in_use(void) {
	return crypto_providers_find(&bench->server.crypto, crypto_own())->keys;
}

/* What the provider made of each key is there once, and of those that were replaced no more. */
static void keys_are_given_back(void **state) {
	unsigned in_use;

	(void)state;
	life_bench_open(bench, 2, GROUPS);
	load_next(2, false);
	in_use = keys_in_use();
	assert_int_equal(in_use, 2 * 2); /* of the modem that encrypts, in both directions */
	for (unsigned i = 0; i < 100; i++) {
		next[i % 2].modems[0].security.key[0] ^= 1;
		assert_true(take_file());
		assert_int_equal(keys_in_use(), in_use);
	}
	free_next();
	load_next(1, false);
	assert_true(take_file());
	assert_int_equal(keys_in_use(), in_use / 2);
	server_change_close(NULL);
	free_next();
	life_bench_close(bench);
}

/* What waits for a modem that goes, longer than it may, is dropped by name; and none of it comes later. */
static void a_modem_goes_with_a_queue(void **state) {
	const struct counters *c;

	(void)state;
	life_bench_open(bench, 2, GROUPS);
	load_next(2, false);
	next[0].modems[0].service_flows[0].sustained_rate = 8000;
	next[0].modems[0].service_flows[0].traffic_burst = 3000;
	next[0].modems[0].service_flows[0].peak_rate = 0;
	reload("service group 1: 1 modem changed");
	for (unsigned i = 0; i < 40; i++)
		assert_true(life_bench_down(bench, 0, &next[0], 400, 2 * i));
	life_bench_pass(bench, MS);
	assert_true(downstream_held(bench->server.groups[0].downstream) > 10);
	next[0].modems++;
	next[0].modem_count--;
	life_bench_launch(bench);
	reload("service group 1: 1 modem removed");
	life_bench_halt(bench);
	assert_int_equal(downstream_held(bench->server.groups[0].downstream), 0);
	c = &bench->server.groups[0].downstream->upper.counters;
	assert_true(c->drops[DROP_SERVICE_FLOW_REMOVED] > 10);
	next[0].modems--;
	free_next();
	life_bench_close(bench);
}

/* Where there is one group, and is to be one, it need not be named. */
static void what_is_refused_is_named(void **state) {
	(void)state;
	for (unsigned there = 1; there <= 2; there++) {
		life_bench_open(bench, there, GROUPS);
		load_next(there, false);
		next[0].max_frame = 1600;
		assert_false(take_file());
		assert_ptr_equal(strstr(line, "max_frame: "),
				 line + (there == 1 ? 0 : strlen("service group 1: ")));
		free_next();
		life_bench_close(bench);
	}
}

/* What the command line said of power stays, whatever the file says. */
static void arguments_go_before_the_file(void **state) {
	struct server *s = &bench->server;

	(void)state;
	life_bench_open(bench, 2, GROUPS);
	load_next(2, false);
	s->power_fixed.policy = s->power_fixed.driver = true;
	s->power_fixed.given.policy = POWER_SAVING;
	s->power_fixed.given.driver = POWER_DRIVER_SIMULATED;
	file.power.policy = POWER_PERFORMANCE;
	assert_true(take_file());
	assert_int_equal(s->power.policy, POWER_SAVING);
	assert_int_equal(s->power.driver, POWER_DRIVER_SIMULATED);
	s->power_fixed.policy = s->power_fixed.driver = false;
	assert_true(take_file());
	assert_int_equal(s->power.policy, POWER_PERFORMANCE);
	assert_int_equal(s->power.driver, POWER_DRIVER_AUTO);
	file.power.policy = POWER_NONE;
	free_next();
	life_bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(differs_and_comes),
		cmocka_unit_test(what_moves_to_one_that_comes),
		cmocka_unit_test(several_differ),
		cmocka_unit_test(differs_and_goes),
		cmocka_unit_test(what_is_refused_is_named),
		cmocka_unit_test(arguments_go_before_the_file),
		cmocka_unit_test(ports_of_its_own),
		cmocka_unit_test(keys_are_given_back),
		cmocka_unit_test(a_modem_goes_with_a_queue),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
