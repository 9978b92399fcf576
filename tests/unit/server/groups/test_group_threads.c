/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups come, go, move and rest while workers run as threads. */
#include "test_main.h"

#include <sched.h>
#include <string.h>

#include "model/load/loader.h"

#include "fixture.h"
#include "life_threads.h"

#define TURNS 30

static struct life_bench storage, *const bench = &storage;

static void move_turn(struct life_script *s, unsigned turn) {
	static const unsigned parts[] = {PART_UPPER, PART_LOWER, PART_UPSTREAM,
					 PART_UPPER | PART_UPSTREAM,
					 PART_UPPER | PART_LOWER | PART_UPSTREAM};
	struct server *server = &bench->server;
	unsigned worker = turn * 7 % LIFE_WORKERS;

	if (turn % 3 != 0) {
		life_check(s,
			   server_move_group(server, 0, parts[turn % ARRAY_COUNT(parts)], worker) ==
				   0,
			   "a group cannot be moved");
		return;
	}
	life_check(s, server_worker_drain(server, worker, (worker + 1) % LIFE_WORKERS) == 0,
		   "a worker cannot be drained");
	life_check(s, server->workers[worker].entry_count == 1,
		   "it has lists but that of the bench");
	life_check(s, strcmp(server->workers[worker].name, "nothing") == 0, "it has a name");
	life_check(s, server_worker_resume(server, worker) == 0, "it cannot be resumed");
}

static void rest_turn(struct life_script *s, unsigned turn) {
	const struct served_group *g = &bench->server.groups[0];
	const uint64_t *received = &g->downstream->upper.counters.values[COUNTER_RECEIVED];
	uint64_t before;

	(void)turn;
	life_check(s, server_group_drain(&bench->server, 0, LIFE_DRAIN_MS) == 0,
		   "something is held");
	before = __atomic_load_n(received, __ATOMIC_RELAXED);
	for (int i = 0; i < 5; i++) {
		server_synchronize(&bench->server);
		life_check(s, served_group_held(g) == 0, "something came in");
	}
	life_check(s, __atomic_load_n(received, __ATOMIC_RELAXED) == before,
		   "something was received");
	server_group_resume(&bench->server, 0);
}

/* With ports of its own, and on shared ports: there rings are needed in which order could be lost, and what comes while a
 * group rests waits in its ring and not in the port. */
static void on_own_and_on_shared_ports(void (*turn)(struct life_script *s, unsigned turn)) {
	for (unsigned groups = 1; groups <= 2; groups++) {
		struct life_script s = {.turn = turn, .turns = TURNS};

		life_bench_open(bench, groups, groups);
		assert_int_equal(bench->server.shares.of[0] != NULL, groups == 2);
		life_play(bench, &s);
		life_bench_close(bench);
	}
}

TEST(moves) {
	on_own_and_on_shared_ports(move_turn);
}

TEST(rests) {
	on_own_and_on_shared_ports(rest_turn);
}

static void life_turn(struct life_script *s, unsigned turn) {
	char why[LIVE_LINE] = "";
	unsigned group = 0;

	life_check(s, server_group_add(&bench->server, s->comes, &group, why),
		   "it cannot be added");
	life_check(s, group == 2, "it has another number");
	for (unsigned i = 0; i < turn % 5; i++)
		server_synchronize(&bench->server);
	life_check(
		s,
		server_group_remove(&bench->server, group, turn % 2 == 0 ? LIFE_DRAIN_MS : 0, why),
		"it cannot be removed");
}

TEST(lives) {
	struct service_group comes;
	struct life_script s = {.turn = life_turn, .turns = TURNS, .comes = &comes};
	struct life_totals t;

	life_bench_open(bench, 2, 3);
	life_bench_load(&comes, 3, 0, 1, 2, 0);
	life_play(bench, &s);
	life_bench_pass(bench, 5000000);
	t = life_bench_totals(bench);
	assert_int_equal(bench->server.gone.groups, TURNS);
	assert_int_equal(t.down_in, t.down_out + t.down_dropped);
	assert_int_equal(bench->sent_down + bench->sent_up, t.down_in + t.up_in + t.port_dropped);
	life_bench_close(bench);
	service_group_free(&comes);
}

/* A table that workers read, and the one before. */
static struct shown {
	const int *now;
	int values[2];
	bool inside, looked, freed_too_early;
} shown;

/* Stands inside a round, with what it read, until the control thread has had time to free it. */
static uint16_t look(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	const int *read = __atomic_load_n(&shown.now, __ATOMIC_ACQUIRE);

	(void)ctx;
	(void)pkts;
	if (shown.looked)
		return n;
	__atomic_store_n(&shown.inside, true, __ATOMIC_RELEASE);
	while (__atomic_load_n(&shown.now, __ATOMIC_ACQUIRE) == read)
		sched_yield();
	for (int i = 0; i < 2000; i++)
		sched_yield();
	shown.freed_too_early = __atomic_load_n(read, __ATOMIC_RELAXED) < 0;
	shown.looked = true;
	return n;
}

TEST(nothing_is_freed_before) {
	static const struct stage stages[] = {{.name = "look", .run = look, .polls = true}};
	struct pipeline p = {.stages = stages, .count = 1};

	life_bench_open(bench, 1, 1);
	server_synchronize(&bench->server); /* none runs: at once */
	for (unsigned w = 0; w < LIFE_WORKERS; w++) {
		shown = (struct shown){.now = &shown.values[0]};
		assert_int_equal(worker_add(&bench->server.workers[w], &p), 0);
		life_bench_launch(bench);
		while (!__atomic_load_n(&shown.inside, __ATOMIC_ACQUIRE))
			sched_yield();
		__atomic_store_n(&shown.now, &shown.values[1], __ATOMIC_RELEASE);
		server_synchronize(&bench->server);
		__atomic_store_n(&shown.values[0], -1, __ATOMIC_RELAXED); /* freed */
		life_bench_halt(bench);
		assert_true(shown.looked);
		assert_false(shown.freed_too_early);
		worker_remove(&bench->server.workers[w], &p);
	}
	server_synchronize(&bench->server); /* none runs any more */
	life_bench_close(bench);
}

ALL_TESTS(NULL, fixture_stop)
