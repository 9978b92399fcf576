/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes where the one who asks for them has the rounds made, as in a replay: no thread runs. */
#include "model/grants_times.h"
#include "server/changes.h"
#include "test_main.h"

#include "group_file.h"

#define ROUND_NS 20000

static struct server_rounds made;
static uint64_t began;

static void pass(void *arg) {
	life_bench_pass(arg, ROUND_NS);
}

static void begin(unsigned groups) {
	life_bench_open(bench, groups, GROUPS);
	made = (struct server_rounds){pass, bench};
	bench->server.rounds = &made;
	life_bench_pass(bench, MS);
}

/* The first modem's flow, of which all but the first packets have to wait. */
static void slow_flow(uint64_t rate) {
	struct service_flow *flow;

	load_next(2, false);
	flow = &next[0].modems[0].service_flows[0];
	flow->sustained_rate = rate;
	flow->traffic_burst = 3000;
	flow->peak_rate = 0;
	reload("service group 1: 1 modem changed");
}

static void modem_goes(void) {
	next[0].modems++;
	next[0].modem_count--;
	reload("service group 1: 1 modem removed");
	next[0].modems--;
	next[0].modem_count++;
}

static void fill(unsigned packets) {
	for (unsigned i = 0; i < packets; i++)
		assert_true(life_bench_down(bench, 0, &next[0], 400, 2 * i));
	life_bench_pass(bench, MS);
	assert_true(downstream_held(bench->server.groups[0].downstream) > 10);
}

/* What waits for a modem that goes comes out first, and its key is used until then. */
TEST(a_queue_runs_empty) {
	const struct counters *c;
	uint64_t before;

	begin(2);
	slow_flow(500000);
	fill(40);
	before = bench->now;
	modem_goes();
	assert_true(bench->now - before < CHANGE_DRAIN_MS * MS);
	life_bench_pass(bench, MS); /* what stands in a DEPI frame that is not full */
	assert_int_equal(downstream_held(bench->server.groups[0].downstream), 0);
	c = &bench->server.groups[0].downstream->upper.counters;
	assert_int_equal(counters_dropped(c), 0);
	assert_int_equal(life_bench_totals(bench).down_out, 40);
	close_with_file();
}

/* But no longer than it may. */
TEST(a_queue_does_not_run_empty) {
	const struct counters *c;
	uint64_t before;

	begin(2);
	slow_flow(8000);
	fill(40);
	before = bench->now;
	modem_goes();
	assert_in_range(bench->now - before, CHANGE_DRAIN_MS * MS, CHANGE_DRAIN_MS * MS + 10 * MS);
	c = &bench->server.groups[0].downstream->upper.counters;
	assert_true(c->drops[DROP_SERVICE_FLOW_REMOVED] > 10);
	assert_int_equal(downstream_held(bench->server.groups[0].downstream), 0);
	close_with_file();
}

static uint64_t maps_before;

static uint64_t maps_of_first(void) {
	return bench->server.groups[0].upstream->counters.values[COUNTER_MAPS];
}

/* A modem sends at the end of what it was granted last. */
static void pass_and_send(void *arg) {
	static const uint64_t last = 2 * MS;

	pass(arg);
	assert_int_equal(maps_of_first(), maps_before);
	if (bench->now >= began + last && bench->now < began + last + ROUND_NS)
		assert_true(life_bench_up(bench, 0, &bench->file[0], 0));
}

static void begin_scheduled(void) {
	life_scheduled = true;
	begin(2);
	life_scheduled = false;
	life_bench_pass(bench, 10 * MS);
	maps_before = maps_of_first();
	assert_true(maps_before > 2);
	made.pass = pass_and_send;
	began = bench->now;
}

/* What has been granted when a group is drained is still received, and nothing is granted any more. */
TEST(what_was_granted_comes) {
	uint64_t ahead;

	begin_scheduled();
	ahead = grants_ahead(bench->server.groups[0].sg);
	assert_in_range(ahead, 3 * MS, 5 * MS);
	server_group_drain(&bench->server, 0, 1000);
	assert_in_range(bench->now - began, ahead, ahead + MS);
	assert_int_equal(bench->taken_up[1], 1);
	began = bench->now;
	server_group_drain(&bench->server, 0, 1000); /* nothing is to come of it any more */
	assert_int_equal(bench->now, began);
	life_bench_close(bench);
	begin_scheduled();
	server_group_drain(&bench->server, 0, 1);
	assert_in_range(bench->now - began, MS, MS + MS / 10); /* no longer than it may */
	life_bench_close(bench);
}

/* The same of a group that goes. */
TEST(what_was_granted_comes_at_the_end) {
	const struct server_gone *gone = &bench->server.gone;
	char why[LIVE_LINE];

	begin_scheduled();
	assert_true(server_group_remove(&bench->server, 0, 1000, why));
	assert_int_equal(gone->up.values[COUNTER_MAPS], maps_before);
	assert_int_equal(bench->taken_up[1], 1);
	life_bench_close(bench);
}

ALL_TESTS(NULL, fixture_stop)
