/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes where the one who asks for them has the rounds made, as in a replay: no thread runs. */
#include "server/changes.h"

#include "group_file.h"

#define ROUND_NS 20000

static struct server_rounds made;

static void pass(void *arg) {
	life_bench_pass(arg, ROUND_NS);
}

static void begin(unsigned groups) {
	life_bench_open(bench, groups, GROUPS);
	made = (struct server_rounds){pass, bench};
	bench->server.rounds = &made;
	life_bench_pass(bench, MS);
}

static void all_differs(void **state) {
	(void)state;
	begin(2);
	load_next(3, false);
	reload("1 service group added");
	all_is_told_apart();
	free_next();
	load_next(3, true);
	reload("service group 2: 2 modems changed, 1 upstream channel changed");
	all_is_told_apart();
	free_next();
	load_next(1, false);
	reload("2 service groups removed");
	all_is_told_apart();
	free_next();
	life_bench_close(bench);
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
static void a_queue_runs_empty(void **state) {
	const struct counters *c;
	uint64_t before;

	(void)state;
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
	free_next();
	life_bench_close(bench);
}

/* But no longer than it may. */
static void a_queue_does_not_run_empty(void **state) {
	const struct counters *c;
	uint64_t before;

	(void)state;
	begin(2);
	slow_flow(8000);
	fill(40);
	before = bench->now;
	modem_goes();
	assert_in_range(bench->now - before, CHANGE_DRAIN_MS * MS, CHANGE_DRAIN_MS * MS + 10 * MS);
	c = &bench->server.groups[0].downstream->upper.counters;
	assert_true(c->drops[DROP_SERVICE_FLOW_REMOVED] > 10);
	assert_int_equal(downstream_held(bench->server.groups[0].downstream), 0);
	free_next();
	life_bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_differs),
		cmocka_unit_test(a_queue_runs_empty),
		cmocka_unit_test(a_queue_does_not_run_empty),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
