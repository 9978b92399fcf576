/* SPDX-License-Identifier: BSD-3-Clause */
/* Adds, removes, moves and drains groups, and changes the rules of NICs, while workers run as
 * threads and forward packets. No packet of group 1 may be lost or out of order. */
#include "test_main.h"

#include <sched.h>

#include <rte_cycles.h>

#include "sharing/steered.h"

#include "group_file.h"
#include "steering_kit.h"

#define STEPS 40

static const struct service_group *added;

static void move_step(struct life_script *s, unsigned number) {
	static const unsigned parts[] = {PART_UPPER, PART_LOWER, PART_UPSTREAM,
					 PART_UPPER | PART_UPSTREAM,
					 PART_UPPER | PART_LOWER | PART_UPSTREAM};
	unsigned worker = number * 7 % LIFE_WORKERS, part = parts[number % ARRAY_COUNT(parts)];

	if (number % 3 != 0) {
		life_check(s, server_move_group(server, 0, part, worker) == 0,
			   "the group cannot be moved");
		return;
	}
	life_check(s, server_worker_drain(server, worker, (worker + 1) % LIFE_WORKERS) == 0,
		   "a worker cannot be drained");
	life_check(s, server->workers[worker].entry_count == 1,
		   "the drained worker has stage lists");
	life_check(s, strcmp(server->workers[worker].name, "nothing") == 0,
		   "the drained worker has the name of a part");
	life_check(s, server_worker_resume(server, worker) == 0, "the worker cannot be resumed");
}

static void drain_step(struct life_script *s, unsigned number) {
	const struct served_group *g = &server->groups[0];
	const uint64_t *received = &g->downstream->upper.counters.values[COUNTER_RECEIVED];
	uint64_t before;

	life_check(s, server_group_drain(server, 0, LIFE_DRAIN_MS) == 0,
		   "packets are pending after the drain");
	before = __atomic_load_n(received, __ATOMIC_RELAXED);
	for (int i = 0; i < 5; i++) {
		server_synchronize(server);
		life_check(s, served_group_pending(g) == 0,
			   "packets are pending in a drained group");
	}
	life_check(s, __atomic_load_n(received, __ATOMIC_RELAXED) == before,
		   "a drained group received packets");
	server_group_resume(server, 0);
}

/* With own ports and with shared ports. On these, packets pass rings, where order could be lost,
 * and packets for a drained group stay in its ring. */
TEST(moves_and_drains_keep_packets_in_order) {
	for (unsigned i = 0; i < 4; i++) {
		struct life_script s = {.step = i < 2 ? move_step : drain_step, .steps = STEPS};
		unsigned groups = 1 + i % 2;

		life_kit_open(kit, groups, groups);
		assert_int_equal(server->shares.of[0] != NULL, groups == 2);
		life_run_script(kit, &s);
	}
}

static bool in_round, synchronized, too_early;

/* A stage that makes one round long, so that server_synchronize() has to wait for its end. */
static uint16_t delay_round(void *ctx, struct rte_mbuf **pkts, uint16_t n) {
	if (__atomic_exchange_n(&in_round, true, __ATOMIC_ACQ_REL))
		return n;
	for (int i = 0; i < 2000; i++)
		sched_yield();
	too_early = __atomic_load_n(&synchronized, __ATOMIC_ACQUIRE);
	return n;
}

TEST(synchronize_waits_for_rounds_in_progress) {
	static const struct stage stages[] = {{.name = "delay", .run = delay_round, .polls = true}};
	struct pipeline p = {.stages = stages, .count = 1};

	life_kit_open(kit, 1, 1);
	for (unsigned w = 0; w < LIFE_WORKERS; w++) {
		in_round = synchronized = false;
		assert_int_equal(worker_add(&server->workers[w], &p), 0);
		life_kit_launch(kit);
		while (!__atomic_load_n(&in_round, __ATOMIC_ACQUIRE))
			sched_yield();
		server_synchronize(server);
		__atomic_store_n(&synchronized, true, __ATOMIC_RELEASE);
		life_kit_halt(kit);
		assert_false(too_early);
		worker_remove(&server->workers[w], &p);
	}
	server_synchronize(server); /* returns at once: no worker runs */
}

static void wait_rounds(unsigned n) {
	for (unsigned i = 0; i < n; i++)
		server_synchronize(server);
}

/* Removes and adds rules of a group on both ports, moves parts, adds and removes a group. */
static void rules_step(struct life_script *script, unsigned number) {
	static char why[LIVE_LINE];
	unsigned group;

	for (unsigned port = 0; port < 2; port++) {
		server_steering_clear(server, port, 0);
		wait_rounds(number % 4);
		server_steer(server, port);
		wait_rounds(number % 3);
	}
	group = number % LIFE_WORKERS;
	life_check(script, server_move_group(server, 0, PART_UPPER | PART_UPSTREAM, group) == 0,
		   "the group cannot be moved");
	life_check(script, server_group_add(server, added, &group, why), why);
	wait_rounds(number % 5);
	life_check(script,
		   server_group_remove(server, group, number % 2 == 0 ? LIFE_DRAIN_MS : 0, why),
		   why);
}

/* With STEERED_BY_BOTH, a rule of the first group also matches packets of the added group. */
TEST(rule_changes_keep_packets_in_order) {
	for (enum steered_by by = 0; by < STEERED_WAYS; by++) {
		struct life_script s = {.step = rules_step, .steps = STEPS};
		struct life_totals t;

		steering_kit_open(kit, by, 2, 3);
		s.extra = added = life_kit_load_extra(kit, 3, 0, 1, 2, 0);
		life_run_script(kit, &s);
		life_kit_run(kit, 5000000);
		t = life_kit_totals(kit);
		life_kit_check_totals(kit);
		assert_int_equal(server->removed.groups, STEPS);
		assert_true(t.port_steered > 0);
		assert_int_equal(flow_nic_calls.refused, 0);
	}
}

/* A drained group does not read its ring. Packets of a new rule would overtake those in the ring,
 * so rules are added only after the resume. Retries, as workers may be delayed. */
TEST(rules_are_added_after_resume) {
	unsigned rules, fewer, tries = 0;

	steering_kit_open(kit, STEERED_BY_SESSION, 2, 2);
	rules = flow_nic_calls.rules;
	life_kit_launch(kit);
	do {
		server_group_drain(server, 0, 0);
		server_steering_clear(server, 1, 0);
		fewer = flow_nic_calls.rules;
		assert_true(fewer < rules);
		server_steer(server, 1);
		assert_int_equal(flow_nic_calls.rules, fewer);
		server_group_resume(server, 0);
	} while (flow_nic_calls.rules < rules && ++tries < STEPS);
	assert_int_equal(flow_nic_calls.rules, rules);
	life_kit_halt(kit);
}

static void wait_for_ring(unsigned count) {
	const struct port_share *share = server->shares.of[1];

	while (rte_ring_count(share->members[0].ring) != count || !share_queue_settled(share, 0))
		sched_yield();
}

/* The ring has a packet from before the rule, the queue one from after. While the ring is read
 * first, the rule must stay although a conflicting group is added. */
TEST(rule_stays_while_ring_is_read_first) {
	steering_kit_open(kit, STEERED_IN_VLAN, 1, 2);
	added = life_kit_load_extra(kit, 2, 0, 1, 2, 0);
	life_kit_launch(kit);
	server_steering_clear(server, 1, 0);
	wait_for_ring(0);
	server_group_drain(server, 0, 0);
	assert_true(life_kit_send_burst(kit, 0, &kit->file[0], 0));
	wait_for_ring(1);
	server_steer(server, 1);
	assert_true(life_kit_send_burst(kit, 0, &kit->file[0], 1));
	life_kit_add(kit, added);
	assert_true(life_kit_send_burst(kit, 0, &kit->file[0], 2));
	server_group_resume(server, 0);
	for (unsigned ms = 0; kit->received_up[1] < 3 && ms < LIFE_DRAIN_MS; ms++) {
		life_kit_receive(kit);
		rte_delay_us_sleep(1000);
	}
	assert_int_equal(kit->received_up[1], 3);
	assert_int_equal(flow_nic_calls.refused, 0);
	life_kit_halt(kit);
}

EACH_TEST(NULL, group_file_teardown)
ALL_TESTS(NULL, fixture_stop)
