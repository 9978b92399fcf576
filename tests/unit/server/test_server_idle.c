/* SPDX-License-Identifier: BSD-3-Clause */
/* What workers of a server do while nothing comes: what is chosen, and who wakes whom. */
#include "test.h"

#include <string.h>

#include "server/running.h"

#include "groups_bench.h"

static struct groups_bench storage, *const bench = &storage;

/* Workers 0, 1 and 2 are upper MAC, lower MAC and upstream of the first group; 3 has all of the second. */
static const struct groups_threads threads[2] = {{1, 2, 3}, {4, 4, 4}};

static void expect_peers(unsigned worker, uint64_t to, uint64_t by) {
	const struct worker *w = &bench->server.workers[worker];

	assert_int_equal(w->hands_to.bits[0], to);
	assert_int_equal(w->handed_by.bits[0], by);
	assert_int_equal(w->hands_to.bits[1] | w->handed_by.bits[1], 0);
}

static void who_wakes_whom(void **state) {
	struct server *s = &bench->server;

	expect_peers(0, 1 << 1, 0); /* the ring between the MACs */
	expect_peers(1, 0, 1 << 0);
	expect_peers(2, 0, 0); /* ports of its own */
	expect_peers(3, 0, 0);
	server_peers(s, true);
	for (unsigned w = 0; w < 4; w++)
		expect_peers(w, 0xf & ~(1u << w), 0xf & ~(1u << w));
	server_peers(s, false);
	expect_peers(0, 1 << 1, 0);
}

static void expect_kind(enum idle_kind kind) {
	for (unsigned w = 0; w < bench->server.worker_count; w++)
		assert_int_equal(bench->server.workers[w].idle.config.kind, kind);
}

static void kinds(void **state) {
	struct server *s = &bench->server;
	struct power_config p = power_config_default();

	expect_kind(IDLE_POLL);
	p.idle = IDLE_SLEEP;
	p.longest_pause = 7000;
	server_idle(s, &p);
	expect_kind(IDLE_SLEEP);
	assert_int_equal(s->power.idle, IDLE_SLEEP);
	assert_int_equal(s->workers[0].idle.config.longest, 7000);
	for (unsigned w = 0; w < 4; w++)
		assert_true(s->workers[w].wakes);
	/* a core waits for one address: not where another worker hands it something, nor for two ports */
	assert_false(s->workers[1].monitored || s->workers[3].monitored);
	/* ports of memory tell of nothing; the lower MAC is told of all by the upper one */
	assert_false(s->workers[0].woken || s->workers[2].woken || s->workers[3].woken);
	assert_true(s->workers[1].woken);
	assert_int_equal(s->workers[0].source_count, 1);
	assert_int_equal(s->workers[1].source_count, 0);
	assert_int_equal(s->workers[3].source_count, 2);
	p.idle = IDLE_MWAITX;
	server_idle(s, &p);
	expect_kind(idle_there(IDLE_MWAITX) ? IDLE_MWAITX : IDLE_POLL);
	assert_int_equal(s->idle_refused, !idle_there(IDLE_MWAITX));
	assert_false(s->workers[0].wakes || s->workers[1].woken);
	assert_int_equal(s->workers[3].source_count, 0);
	p.idle = IDLE_AUTO;
	server_idle(s, &p);
	expect_kind(idle_best(false)); /* the machine is not known to be too small */
	assert_false(server_may_sleep(s));
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_wakes_whom),
		cmocka_unit_test(kinds),
	};
	int failed;

	groups_bench_config(bench, 2, threads);
	groups_bench_open(bench);
	failed = cmocka_run_group_tests(tests, NULL, NULL);
	groups_bench_close(bench);
	return failed;
}
