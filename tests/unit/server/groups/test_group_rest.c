/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups that rest, move or change, in rounds by hand as in a replay: what they wait for, and by whose clock and queue they
 * go on.
 */
#include "test_main.h"

#include <rte_ethdev.h>

#include "model/grants_times.h"
#include "server/changes.h"

#include "group_file.h"

#define LONG (10000 * MS) /* than anything may wait */
#define ROUND_NS 20000

/* What it waits for may stand in the port that nobody asks: so it is not given up, however long it rests. */
TEST(what_waits_goes_on_waiting) {
	for (unsigned groups = 1; groups <= 2; groups++) {
		life_kit_open(bench, groups, groups);
		life_kit_up_open(bench, LIFE_SHARED);
		life_kit_pass(bench, MS);
		assert_int_equal(server_group_drain(server, 0, 1000), 1);
		life_kit_traffic(bench, LIFE_SHARED, &bench->file[0], 1);
		for (int i = 0; i < 3; i++) {
			bench->now += LONG;
			life_kit_pass(bench, MS);
			assert_int_equal(served_group_pending(&server->groups[0]), 1);
			assert_int_equal(served_group_waiting(&server->groups[0]), 1);
		}
		assert_int_equal(bench->taken_up[1], 0);
		server_group_resume(server, 0);
		server_group_resume(server, 0); /* harmless */
		life_kit_pass(bench, 3 * MS);
		assert_int_equal(bench->taken_up[1], 1);
		assert_true(bench->depi_frames > 0);
		bench->now += LONG;
		life_kit_pass(bench, MS);
		assert_int_equal(served_group_pending(&server->groups[0]), 0);
	}
}

static uint64_t maps_sent(void) {
	return life_kit_up_of(bench, 0)->values[COUNTER_MAPS];
}

/* Nobody would receive what modems send: they are granted nothing, and something again when it receives. */
TEST(nothing_is_granted_meanwhile) {
	uint64_t before;

	life_scheduled = true;
	life_kit_open(bench, 1, 1);
	life_scheduled = false;
	life_kit_pass(bench, 20 * MS);
	before = maps_sent();
	assert_true(before > 5);
	server_group_drain(server, 0, 0);
	life_kit_pass(bench, 20 * MS);
	assert_int_equal(maps_sent(), before);
	server_group_drain(server, 0, 0); /* harmless */
	server_group_resume(server, 0);
	bench->now += LONG;
	life_kit_pass(bench, 20 * MS);
	assert_in_range(maps_sent(), before + 5, before + 20);
}

TEST(what_waits_is_given_up_at_the_end) {
	life_kit_open(bench, 2, 2);
	life_kit_up_open(bench, LIFE_SHARED);
	life_kit_pass(bench, MS);
	assert_int_equal(server_group_drain(server, 0, 0), 1);
	server->groups[0].upstream->requests.sink.by_kind[0] = 3;
	life_kit_remove(bench, 0, 0);
	assert_int_equal(server->gone.groups, 1);
	assert_int_equal(server->gone.requests[0], 3);
	assert_int_equal(server->gone.up_in[UNIT_PACKET], 1);
	assert_int_equal(counters_dropped(&server->gone.up), 1);
	assert_true(server_balanced(server));
}

/* The server stops as vcmtsd does, with clocks that go on by themselves. */
static void stop(void) {
	server_start(server);
	server_halted(server);
	server_drain(server, rte_get_tsc_hz() * 60);
	life_kit_take(bench);
}

/* A server that stops sends what waits for a group that rests, also where the place of another one is free. */
TEST(a_stop_while_it_rests) {
	for (unsigned rests = 0; rests < 2; rests++) {
		life_kit_open(bench, 2, 2);
		if (rests == 1)
			life_kit_remove(bench, 0, 0);
		assert_int_equal(server_group_drain(server, rests, 0), 0);
		life_kit_traffic(bench, LIFE_SHARED, &bench->file[rests], 1);
		life_kit_pass(bench, MS);
		assert_int_equal(server_shares_pending_in(&server->shares), 2);
		assert_int_equal(life_kit_totals(bench).down_in, 0);
		stop();
		assert_int_equal(life_kit_totals(bench).down_out, 1);
		assert_int_equal(bench->taken_up[1 + rests], 1);
	}
}

/* A server that stops sends what it has, and takes no more from a port that is one group's own. */
TEST(a_stop_ends_what_is_received) {
	struct rte_mbuf *m;

	life_kit_open(bench, 1, 1);
	life_kit_downs(bench, 0, &bench->file[0], 4);
	assert_in_range(worker_round(server->groups[0].upper), 4, 100);
	assert_int_equal(downstream_pending(server->groups[0].downstream), 4);
	life_kit_ups(bench, 0, &bench->file[0], 1);
	stop();
	assert_int_equal(life_kit_totals(bench).down_out, 4);
	assert_int_equal(life_kit_totals(bench).up_in, 0);
	assert_int_equal(
		rte_eth_rx_burst(server->ports.list[server->ports.of[0][DEVICE_RPHY]].id, 0, &m, 1),
		1);
	rte_pktmbuf_free(m);
}

static void check_clocks(const struct served_group *g) {
	assert_ptr_equal(g->downstream->upper.clock, &g->upper->clock);
	assert_ptr_equal(g->downstream->lower.clock, &g->lower->clock);
	assert_ptr_equal(g->upstream->r.clock, &g->upstream_worker->clock);
}

/* On shared ports: who does not own one sends by its ring, and a group that has begun so goes on. */
TEST(whose_clock_and_queue) {
	struct served_group *g;
	unsigned port;

	life_kit_open(bench, 2, 2);
	g = &server->groups[0];
	port = server->ports.of[0][DEVICE_RPHY];
	assert_int_equal(server->shares.owners[port], 2); /* its upstream */
	for (unsigned worker = 0; worker < LIFE_WORKERS; worker++) {
		assert_int_equal(server_move_group(server, 0, PART_LOWER, worker), 0);
		assert_ptr_equal(g->lower, &server->workers[worker]);
		assert_ptr_equal(g->downstream->lower.rphy.ring,
				 server->shares.of[port]->send.ring);
		assert_non_null(g->downstream->lower.rphy.ring);
		check_clocks(g);
	}
	assert_int_equal(server_move_group(server, 0, PART_UPPER | PART_UPSTREAM, 1), 0);
	check_clocks(g);
	assert_int_equal(server->layout.groups[0].upper, 1);
	assert_int_equal(server->layout.groups[0].lower, 2);
	assert_int_equal(server->layout.groups[0].upstream, 1);
	server_start(server); /* all clocks count from one time: the later one is never behind */
	for (unsigned w = 1; w < LIFE_WORKERS; w++)
		assert_int_equal(server->workers[w].clock.base_tsc,
				 server->workers[0].clock.base_tsc);
	server_halted(server);
}

/* A port that nobody sends to from afar has no ring, until somebody does. */
TEST(a_ring_when_it_is_needed) {
	const struct service_group *comes;
	unsigned port;

	life_kit_open(bench, 1, 3);
	assert_int_equal(server_move_group(server, 0, PART_LOWER | PART_UPPER, 2), 0);
	comes = life_kit_group(bench, 3, 0, 2, 2, 2);
	life_kit_add(bench, comes);
	port = server->ports.of[0][DEVICE_RPHY];
	assert_non_null(server->shares.of[port]);
	assert_null(server->shares.of[port]->send.ring);
	life_kit_downs(bench, 0, comes, 1);
	life_kit_pass(bench, 3 * MS);
	assert_int_equal(bench->depi_seen[3][0] + bench->depi_seen[3][1], 1);
	assert_int_equal(server_move_group(server, 1, PART_LOWER, 0), 0);
	assert_non_null(server->groups[1].downstream->lower.rphy.ring);
	assert_null(server->groups[0].downstream->lower.rphy.ring); /* of the owner's worker */
	assert_int_equal(server_move_ports(server, 2, 1), 0);
	assert_int_equal(server->shares.owners[port], 1);
	assert_non_null(server->groups[0].downstream->lower.rphy.ring);
	assert_int_equal(server_worker_resume(server, 2), 0);
	assert_int_equal(server_worker_drain(server, 2, 0), 0);
	assert_non_null(server->shares.of[port]->send.ring);
	assert_int_equal(server->workers[2].entry_count, 0);
	assert_string_equal(server->workers[2].name, "nothing");
	for (unsigned g = 0; g < 2; g++) {
		assert_ptr_equal(server->groups[g].downstream->lower.rphy.ring,
				 server->shares.of[port]->send.ring);
		assert_int_equal(server->shares.owners[port], 0);
		check_clocks(&server->groups[g]);
	}
	life_kit_downs(bench, 0, comes, 1);
	life_kit_pass(bench, 3 * MS);
	assert_int_equal(server_worker_resume(server, 2), 0);
	assert_int_equal(server->layout.groups[0].upstream, 2);
	assert_int_equal(server->layout.groups[0].lower, 0); /* not at home there */
	assert_int_equal(server->layout.groups[1].lower, 2);
	assert_int_equal(server->shares.owners[port], 2);
	life_kit_downs(bench, 0, comes, 1);
	life_kit_pass(bench, 3 * MS);
	assert_int_equal(life_kit_totals(bench).down_out, 3);
}

TEST(what_waits_for_a_port_is_held) {
	uint64_t waits;

	life_kit_open(bench, 2, 2);
	life_kit_downs(bench, 0, &bench->file[0], 4);
	for (uint64_t end = bench->now + MS; bench->now < end; bench->now += MS / 50) {
		for (unsigned w = 0; w < 2; w++) { /* the third one has the port */
			server->workers[w].clock.now = bench->now;
			worker_round(&server->workers[w]);
		}
	}
	waits = server_shares_pending_out(&server->shares);
	assert_in_range(waits, 1, 4);
	assert_int_equal(server_pending(server), waits);
	life_kit_pass(bench, MS);
	assert_int_equal(server_pending(server), 0);
	assert_int_equal(life_kit_totals(bench).down_out, 4);
}

static struct server_rounds made;
static uint64_t began;

static void pass(void *arg) {
	life_kit_pass(arg, ROUND_NS);
}

static void begin(unsigned groups) {
	life_kit_open(bench, groups, GROUPS);
	made = (struct server_rounds){pass, bench};
	server->rounds = &made;
	life_kit_pass(bench, MS);
}

/* The first modem's flow, of which all but the first packets have to wait. */
static void slow_flow(uint64_t rate) {
	struct service_flow *flow;

	load_next(2);
	flow = &next[0].modems[0].service_flows[0];
	flow->sustained_rate = rate;
	flow->traffic_burst = 3000;
	flow->peak_rate = 0;
	reload("service group 1: 1 modem changed");
}

/* What waits for a modem that goes comes out first, and its key is used until then; but for no longer than it may. */
TEST(a_queue_runs_empty) {
	static const uint64_t rates[] = {500000, 8000};

	for (unsigned slow = 0; slow < 2; slow++) {
		const struct downstream *d;
		uint64_t before, took;

		begin(2);
		slow_flow(rates[slow]);
		for (unsigned i = 0; i < 40; i++)
			assert_true(life_kit_down(bench, 0, &next[0], 400, 2 * i));
		life_kit_pass(bench, MS);
		d = server->groups[0].downstream;
		assert_true(downstream_pending(d) > 10);
		before = bench->now;
		next[0].modems++;
		next[0].modem_count--;
		reload("service group 1: 1 modem removed");
		next[0].modems--;
		next[0].modem_count++;
		took = bench->now - before;
		assert_in_range(took, slow * CHANGE_DRAIN_MS * MS,
				(CHANGE_DRAIN_MS + 10 * slow) * MS);
		if (!slow) /* what stands in a DEPI frame that is not full */
			life_kit_pass(bench, MS);
		assert_int_equal(downstream_pending(d), 0);
		assert_int_equal(d->upper.counters.drops[DROP_SERVICE_FLOW_REMOVED] > 10, slow);
		if (!slow) {
			assert_int_equal(counters_dropped(&d->upper.counters), 0);
			assert_int_equal(life_kit_totals(bench).down_out, 40);
		}
	}
}

static uint64_t maps_before;

/* A modem sends at the end of what it was granted last. */
static void pass_and_send(void *arg) {
	static const uint64_t last = 2 * MS;

	pass(arg);
	assert_int_equal(maps_sent(), maps_before);
	if (bench->now >= began + last && bench->now < began + last + ROUND_NS)
		assert_true(life_kit_up(bench, 0, &bench->file[0], 0));
}

static void begin_scheduled(void) {
	life_scheduled = true;
	begin(2);
	life_scheduled = false;
	life_kit_pass(bench, 10 * MS);
	maps_before = maps_sent();
	assert_true(maps_before > 2);
	made.pass = pass_and_send;
	began = bench->now;
}

/* What has been granted when a group is drained is still received, and nothing is granted any more; the same of a group that
 * goes. It is waited for no longer than it may. */
TEST(what_was_granted_comes) {
	uint64_t ahead;

	begin_scheduled();
	ahead = grants_ahead(server->groups[0].sg);
	assert_in_range(ahead, 3 * MS, 5 * MS);
	server_group_drain(server, 0, 1000);
	assert_in_range(bench->now - began, ahead, ahead + MS);
	assert_int_equal(bench->taken_up[1], 1);
	began = bench->now;
	server_group_drain(server, 0, 1000); /* nothing is to come of it any more */
	assert_int_equal(bench->now, began);
	begin_scheduled();
	server_group_drain(server, 0, 1);
	assert_in_range(bench->now - began, MS, MS + MS / 10);
	begin_scheduled();
	life_kit_remove(bench, 0, 1000);
	assert_int_equal(server->gone.up.values[COUNTER_MAPS], maps_before);
	assert_int_equal(bench->taken_up[1], 1);
}

EACH_TEST(NULL, file_end)
ALL_TESTS(NULL, fixture_stop)
