/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups come, go, move and rest while workers run as threads: this thread has the traffic, another one is the control
 * thread. What holds at any speed is asserted.
 */
#include "test.h"

#include <sched.h>
#include <string.h>

#include "model/load/loader.h"

#include "fixture.h"
#include "life_bench.h"

#define TURNS 30
#define WINDOW 48 /* packets on their way: fewer than any ring holds */
#define DRAIN_MS 20000 /* the longest that is waited for what comes at once */

static struct life_bench storage, *const bench = &storage;

/* What the control thread does, and what came of it. */
struct script {
	void (*turn)(struct script *s, unsigned turn);
	struct service_group *comes;
	const char *failed; /* NULL: all went well */
	bool done;
	uint64_t held; /* where something should not */
};

static void check(struct script *s, bool good, const char *what) {
	if (!good && s->failed == NULL)
		s->failed = what;
}

static void *play(void *arg) {
	struct script *s = arg;

	for (unsigned turn = 0; turn < TURNS; turn++)
		s->turn(s, turn);
	__atomic_store_n(&s->done, true, __ATOMIC_RELEASE);
	return NULL;
}

static const struct served_group *first(void) {
	return &bench->server.groups[0];
}

static uint64_t value(const uint64_t *counter) {
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

/* How many of this group's packets of both directions have gone through. */
static uint64_t down_out(void) {
	return value(&first()->downstream->lower.counters.values[COUNTER_TRANSMITTED]);
}

/* Both directions of the first group, never more than the window, which is all that is ever on its way. */
static void first_traffic(uint32_t *sent) {
	if (*sent - down_out() < WINDOW && *sent - bench->taken_up[1] < WINDOW &&
	    life_bench_down(bench, 0, &bench->file[0], 200, *sent)) {
		while (!life_bench_up(bench, 0, &bench->file[0], *sent))
			life_bench_take(bench);
		(*sent)++;
	}
	life_bench_take(bench);
	sched_yield();
}

/* Traffic until the script is played, and until all of it has come. Returns how much it was. */
static uint32_t play_with_traffic(struct script *s, void (*more)(struct script *s)) {
	pthread_t control;
	uint32_t sent = 0;

	life_bench_launch(bench);
	assert_int_equal(pthread_create(&control, NULL, play, s), 0);
	while (!__atomic_load_n(&s->done, __ATOMIC_ACQUIRE)) {
		first_traffic(&sent);
		if (more != NULL)
			more(s);
	}
	pthread_join(control, NULL);
	if (s->failed != NULL)
		fail_msg("%s", s->failed);
	while (down_out() < sent || bench->taken_up[1] < sent) {
		life_bench_take(bench);
		sched_yield();
	}
	life_bench_halt(bench);
	return sent;
}

/* Not one is lost, and none is late: take() looks at their order. */
static void nothing_was_lost(uint32_t sent) {
	struct counters c;

	downstream_counters(first()->downstream, &c);
	assert_int_equal(c.values[COUNTER_RECEIVED], sent);
	assert_int_equal(c.values[COUNTER_TRANSMITTED], sent);
	assert_int_equal(bench->taken_up[1], sent);
	assert_true(sent > 0);
}

static void move_turn(struct script *s, unsigned turn) {
	static const unsigned parts[] = {PART_UPPER, PART_LOWER, PART_UPSTREAM,
					 PART_UPPER | PART_UPSTREAM,
					 PART_UPPER | PART_LOWER | PART_UPSTREAM};
	struct server *server = &bench->server;
	unsigned worker = turn * 7 % LIFE_WORKERS;

	if (turn % 3 == 0) {
		check(s, server_worker_drain(server, worker, (worker + 1) % LIFE_WORKERS) == 0,
		      "a worker cannot be drained");
		check(s, server->workers[worker].entry_count == 1,
		      "it has lists but that of the bench");
		check(s, strcmp(server->workers[worker].name, "nothing") == 0, "it has a name");
		check(s, server_worker_resume(server, worker) == 0, "it cannot be resumed");
	} else {
		check(s,
		      server_move_group(server, 0, parts[turn % ARRAY_COUNT(parts)], worker) == 0,
		      "a group cannot be moved");
	}
}

/* Two groups on shared ports, so that rings are needed in which order could be lost. */
static void moves(void **state) {
	struct script s = {.turn = move_turn};
	uint32_t sent;

	(void)state;
	life_bench_open(bench, 2, 2);
	sent = play_with_traffic(&s, NULL);
	nothing_was_lost(sent);
	life_bench_close(bench);
}

/* One group, whose ports are its own. */
static void moves_of_queues(void **state) {
	struct script s = {.turn = move_turn};
	uint32_t sent;

	(void)state;
	life_bench_open(bench, 1, 1);
	assert_null(bench->server.shares.of[0]);
	sent = play_with_traffic(&s, NULL);
	nothing_was_lost(sent);
	life_bench_close(bench);
}

static void rest_turn(struct script *s, unsigned turn) {
	uint64_t received;

	(void)turn;
	check(s, server_group_drain(&bench->server, 0, DRAIN_MS) == 0, "something is held");
	received = value(&first()->downstream->upper.counters.values[COUNTER_RECEIVED]);
	for (int i = 0; i < 5; i++) {
		server_synchronize(&bench->server);
		check(s, served_group_held(first()) == 0, "something came in");
	}
	check(s, value(&first()->downstream->upper.counters.values[COUNTER_RECEIVED]) == received,
	      "something was received");
	server_group_resume(&bench->server, 0);
}

/* What comes while it rests waits in the port, or in its ring there. */
static void rests(void **state) {
	(void)state;
	for (unsigned groups = 1; groups <= 2; groups++) {
		struct script s = {.turn = rest_turn};
		uint32_t sent;

		life_bench_open(bench, groups, groups);
		sent = play_with_traffic(&s, NULL);
		nothing_was_lost(sent);
		life_bench_close(bench);
	}
}

static void life_turn(struct script *s, unsigned turn) {
	char why[LIVE_LINE] = "";
	unsigned group = 0;

	check(s, server_group_add(&bench->server, s->comes, &group, why), "it cannot be added");
	check(s, group == 2, "it has another number");
	for (unsigned i = 0; i < turn % 5; i++)
		server_synchronize(&bench->server);
	check(s, server_group_remove(&bench->server, group, turn % 2 == 0 ? DRAIN_MS : 0, why),
	      "it cannot be removed");
}

/* It has traffic whether it is there or not. */
static void more_traffic(struct script *s) {
	static uint32_t serial;

	life_bench_down(bench, 0, s->comes, 200, serial);
	life_bench_up(bench, 0, s->comes, serial++);
}

static void lives(void **state) {
	struct service_group comes;
	struct script s = {.turn = life_turn, .comes = &comes};
	struct life_totals t;
	uint32_t sent;

	(void)state;
	life_bench_open(bench, 2, 3);
	life_bench_load(&comes, 3, 0, 1, 2, 0);
	sent = play_with_traffic(&s, more_traffic);
	nothing_was_lost(sent);
	life_bench_pass(bench, 5000000);
	t = life_bench_totals(bench);
	assert_int_equal(bench->server.gone.groups, TURNS);
	assert_int_equal(t.down_in, t.down_out + t.down_dropped);
	assert_int_equal(bench->sent_down + bench->sent_up, t.down_in + t.up_in + t.port_dropped);
	life_bench_close(bench);
	service_group_free(&comes);
}

/* One that goes does not wait for what cannot come: it is given up in its time, and nothing is left for the stop. */
static void what_waits_is_given_up(void **state) {
	struct server *s = &bench->server;
	char why[LIVE_LINE];

	(void)state;
	life_bench_open(bench, 2, 2);
	life_bench_up_open(bench);
	life_bench_launch(bench);
	while (value(&first()->upstream->counters.values[COUNTER_RECEIVED]) == 0)
		sched_yield();
	assert_true(server_group_remove(s, 0, DRAIN_MS, why));
	life_bench_halt(bench);
	assert_int_equal(counters_dropped(&s->gone.up), 1);
	assert_int_equal(s->gone.up.drops[DROP_BURST_STOPPED], 0);
	life_bench_close(bench);
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

static void nothing_is_freed_before(void **state) {
	static const struct stage stages[] = {{.name = "look", .run = look, .polls = true}};
	struct pipeline p = {.stages = stages, .count = 1};

	(void)state;
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

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(moves),
		cmocka_unit_test(moves_of_queues),
		cmocka_unit_test(rests),
		cmocka_unit_test(lives),
		cmocka_unit_test(what_waits_is_given_up),
		cmocka_unit_test(nothing_is_freed_before),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
