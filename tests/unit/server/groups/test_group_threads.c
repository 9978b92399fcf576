/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups come, go, move and rest, and rules of cards with them, while workers run as threads and packets come. */
#include "test_main.h"

#include <sched.h>

#include <rte_cycles.h>

#include "sharing/steered.h"

#include "group_file.h"
#include "steering_kit.h"

#define TURNS 40

static const struct service_group *comes;

static void move_turn(struct life_script *s, unsigned turn) {
	static const unsigned parts[] = {PART_UPPER, PART_LOWER, PART_UPSTREAM,
					 PART_UPPER | PART_UPSTREAM,
					 PART_UPPER | PART_LOWER | PART_UPSTREAM};
	unsigned worker = turn * 7 % LIFE_WORKERS, part = parts[turn % ARRAY_COUNT(parts)];

	if (turn % 3 != 0) {
		life_check(s, server_move_group(server, 0, part, worker) == 0, "no move");
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
	const struct served_group *g = &server->groups[0];
	const uint64_t *received = &g->downstream->upper.counters.values[COUNTER_RECEIVED];
	uint64_t before;

	life_check(s, server_group_drain(server, 0, LIFE_DRAIN_MS) == 0, "something is held");
	before = __atomic_load_n(received, __ATOMIC_RELAXED);
	for (int i = 0; i < 5; i++) {
		server_synchronize(server);
		life_check(s, served_group_pending(g) == 0, "something came in");
	}
	life_check(s, __atomic_load_n(received, __ATOMIC_RELAXED) == before,
		   "something was received");
	server_group_resume(server, 0);
}

/* With ports of its own, and on shared ports: there rings are needed in which order could be lost, and what comes while a
 * group rests waits in its ring and not in the port. */
TEST(moves_and_rests) {
	for (unsigned i = 0; i < 4; i++) {
		struct life_script s = {.turn = i < 2 ? move_turn : rest_turn, .turns = TURNS};
		unsigned groups = 1 + i % 2;

		life_kit_open(bench, groups, groups);
		assert_int_equal(server->shares.of[0] != NULL, groups == 2);
		life_play(bench, &s);
	}
}

static bool inside, waited, too_early;

/* Stands inside a round until the control thread has had time to go on. */
static uint16_t stand(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	if (__atomic_exchange_n(&inside, true, __ATOMIC_ACQ_REL))
		return n;
	for (int i = 0; i < 2000; i++)
		sched_yield();
	too_early = __atomic_load_n(&waited, __ATOMIC_ACQUIRE);
	return n;
}

TEST(rounds_are_waited_for) {
	static const struct stage stages[] = {{.name = "stand", .run = stand, .polls = true}};
	struct pipeline p = {.stages = stages, .count = 1};

	life_kit_open(bench, 1, 1);
	for (unsigned w = 0; w < LIFE_WORKERS; w++) {
		inside = waited = false;
		assert_int_equal(worker_add(&server->workers[w], &p), 0);
		life_kit_launch(bench);
		while (!__atomic_load_n(&inside, __ATOMIC_ACQUIRE))
			sched_yield();
		server_synchronize(server);
		__atomic_store_n(&waited, true, __ATOMIC_RELEASE);
		life_kit_halt(bench);
		assert_false(too_early);
		worker_remove(&server->workers[w], &p);
	}
	server_synchronize(server); /* none runs any more: at once */
}

static void rounds(unsigned n) {
	for (unsigned i = 0; i < n; i++)
		server_synchronize(server);
}

/* The rules of a group go and come on both ports; another group comes and goes; parts move. */
static void rules_turn(struct life_script *script, unsigned turn) {
	static char why[LIVE_LINE];
	unsigned group;

	for (unsigned port = 0; port < 2; port++) {
		server_steer_nothing(server, port, 0);
		rounds(turn % 4);
		server_steer(server, port);
		rounds(turn % 3);
	}
	group = turn % LIFE_WORKERS;
	life_check(script, server_move_group(server, 0, PART_UPPER | PART_UPSTREAM, group) == 0,
		   "no move");
	life_check(script, server_group_add(server, comes, &group, why), why);
	rounds(turn % 5);
	life_check(script,
		   server_group_remove(server, group, turn % 2 == 0 ? LIFE_DRAIN_MS : 0, why), why);
}

/* With STEERED_BY_BOTH a rule of the first group matches packets of the one that comes, too. */
TEST(rules_come_and_go) {
	for (enum steered_by by = 0; by < STEERED_WAYS; by++) {
		struct life_script s = {.turn = rules_turn, .turns = TURNS};
		struct life_totals t;

		steering_kit_open(bench, by, 2, 3);
		s.comes = comes = life_kit_group(bench, 3, 0, 1, 2, 0);
		life_play(bench, &s);
		life_kit_pass(bench, 5000000);
		t = life_kit_totals(bench);
		life_kit_check_totals(bench);
		assert_int_equal(server->gone.groups, TURNS);
		assert_true(t.port_steered > 0);
		assert_int_equal(flow_card_calls.refused, 0);
	}
}

/* It takes nothing: what is in its ring would come behind what a rule brings to its queue. Workers have a while to take
 * what came before; on a busy machine it may be over before they have a core. */
TEST(rules_wait_for_a_group_that_rests) {
	unsigned rules, least, tries = 0;

	steering_kit_open(bench, STEERED_BY_SESSION, 2, 2);
	rules = flow_card_calls.rules;
	life_kit_launch(bench);
	do {
		server_group_drain(server, 0, 0);
		server_steer_nothing(server, 1, 0);
		least = flow_card_calls.rules;
		assert_true(least < rules);
		server_steer(server, 1);
		assert_int_equal(flow_card_calls.rules, least);
		server_group_resume(server, 0);
	} while (flow_card_calls.rules < rules && ++tries < TURNS);
	assert_int_equal(flow_card_calls.rules, rules);
	life_kit_halt(bench);
}

static void wait_for_ring(unsigned count) {
	const struct port_share *share = server->shares.of[1];

	while (rte_ring_count(share->members[0].ring) != count || !share_way_settled(share, 0))
		sched_yield();
}

/* Its ring has a packet from before the rule, and its queue one from after: the rule may not go in favour of another,
 * or what comes next would be in the ring, too. */
TEST(rules_stay_while_the_ring_goes_first) {
	steering_kit_open(bench, STEERED_IN_VLAN, 1, 2);
	comes = life_kit_group(bench, 2, 0, 1, 2, 0);
	life_kit_launch(bench);
	server_steer_nothing(server, 1, 0);
	wait_for_ring(0);
	server_group_drain(server, 0, 0);
	assert_true(life_kit_up(bench, 0, &bench->file[0], 0));
	wait_for_ring(1);
	server_steer(server, 1);
	assert_true(life_kit_up(bench, 0, &bench->file[0], 1));
	life_kit_add(bench, comes);
	assert_true(life_kit_up(bench, 0, &bench->file[0], 2));
	server_group_resume(server, 0);
	for (unsigned ms = 0; bench->taken_up[1] < 3 && ms < LIFE_DRAIN_MS; ms++) {
		life_kit_take(bench);
		rte_delay_us_sleep(1000);
	}
	assert_int_equal(bench->taken_up[1], 3);
	assert_int_equal(flow_card_calls.refused, 0);
	life_kit_halt(bench);
}

EACH_TEST(NULL, file_end)
ALL_TESTS(NULL, fixture_stop)
