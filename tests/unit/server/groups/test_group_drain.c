/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests groups that are drained, moved or changed. The test runs the rounds of the workers and
 * their clocks, as a replay does. Checks pending packets, timers, clocks and transmit rings. */
#include "test_main.h"

#include <sys/mman.h>
#include <unistd.h>

#include <rte_ethdev.h>

#include "model/grants_times.h"
#include "platform/log/log.h"
#include "server/changes.h"

#include "group_file.h"

#define LONG_NS (10000 * MS) /* longer than any timer */
#define ROUND_NS 20000 /* simulated time per round */

/* A drained group does not poll, so its reassembly timers must not expire until it resumes. */
TEST(reassembly_timer_stops_while_drained) {
	for (unsigned groups = 1; groups <= 2; groups++) {
		life_kit_open(kit, groups, groups);
		life_kit_send_open_burst(kit, LIFE_SHARED);
		life_kit_run(kit, MS);
		assert_int_equal(server_group_drain(server, 0, 1000), 1);
		life_kit_send_both(kit, LIFE_SHARED, &kit->file[0], 1);
		for (int i = 0; i < 3; i++) {
			kit->now += LONG_NS;
			life_kit_run(kit, MS);
			assert_int_equal(served_group_pending(&server->groups[0]), 1);
			assert_int_equal(served_group_waiting(&server->groups[0]), 1);
		}
		assert_int_equal(kit->received_up[1], 0);
		server_group_resume(server, 0);
		server_group_resume(server, 0); /* no effect */
		life_kit_run(kit, 3 * MS);
		assert_int_equal(kit->received_up[1], 1);
		assert_true(kit->depi_frames > 0);
		kit->now += LONG_NS;
		life_kit_run(kit, MS);
		assert_int_equal(served_group_pending(&server->groups[0]), 0);
	}
}

static uint64_t maps_sent(void) {
	return life_kit_up_counters(kit, 0)->values[COUNTER_MAPS];
}

/* A drained group grants nothing, as it would not receive the bursts. */
TEST(drained_group_grants_nothing) {
	uint64_t before;

	life_upstream_scheduler = true;
	life_kit_open(kit, 1, 1);
	life_upstream_scheduler = false;
	life_kit_run(kit, 20 * MS);
	before = maps_sent();
	assert_true(before > 5);
	server_group_drain(server, 0, 0);
	life_kit_run(kit, 20 * MS);
	assert_int_equal(maps_sent(), before);
	server_group_drain(server, 0, 0); /* no effect */
	server_group_resume(server, 0);
	kit->now += LONG_NS;
	life_kit_run(kit, 20 * MS);
	assert_in_range(maps_sent(), before + 5, before + 20);
}

TEST(removal_drops_pending_fragments) {
	life_kit_open(kit, 2, 2);
	life_kit_send_open_burst(kit, LIFE_SHARED);
	life_kit_run(kit, MS);
	assert_int_equal(server_group_drain(server, 0, 0), 1);
	server->groups[0].upstream->requests.sink.by_kind[0] = 3;
	life_kit_remove(kit, 0, 0);
	assert_int_equal(server->removed.groups, 1);
	assert_int_equal(server->removed.requests[0], 3);
	assert_int_equal(server->removed.up_in[UNIT_PACKET], 1);
	assert_int_equal(counters_dropped(&server->removed.up), 1);
	assert_true(server_balanced(server));
}

/* Stops the server as vcmtsd does, with running clocks. */
static void stop_server(void) {
	server_start(server);
	server_halted(server);
	server_drain(server, rte_get_tsc_hz() * 60);
	life_kit_receive(kit);
}

/* A stopping server forwards pending packets of a drained group, also beside a free slot. */
TEST(stop_forwards_packets_of_drained_group) {
	for (unsigned drained = 0; drained < 2; drained++) {
		life_kit_open(kit, 2, 2);
		if (drained == 1)
			life_kit_remove(kit, 0, 0);
		assert_int_equal(server_group_drain(server, drained, 0), 0);
		life_kit_send_both(kit, LIFE_SHARED, &kit->file[drained], 1);
		life_kit_run(kit, MS);
		assert_int_equal(server_shares_pending_in(&server->shares), 2);
		assert_int_equal(life_kit_totals(kit).down_in, 0);
		stop_server();
		assert_int_equal(life_kit_totals(kit).down_out, 1);
		assert_int_equal(kit->received_up[1 + drained], 1);
	}
}

/* A stopping server forwards pending packets and does not poll the port of a single group. */
TEST(stop_forwards_pending_packets_and_stops_polling) {
	struct rte_mbuf *m;

	life_kit_open(kit, 1, 1);
	life_kit_send_packets(kit, 0, &kit->file[0], 4);
	assert_in_range(worker_round(server->groups[0].upper), 4, 100);
	assert_int_equal(downstream_pending(server->groups[0].downstream), 4);
	life_kit_send_bursts(kit, 0, &kit->file[0], 1);
	stop_server();
	assert_int_equal(life_kit_totals(kit).down_out, 4);
	assert_int_equal(life_kit_totals(kit).up_in, 0);
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

/* A group that is not on the port owner's worker transmits through the ring. */
TEST(moved_parts_use_clock_and_ring_of_their_worker) {
	struct served_group *g;
	unsigned port;

	life_kit_open(kit, 2, 2);
	g = &server->groups[0];
	port = server->ports.of[0][DEVICE_RPHY];
	assert_int_equal(server->shares.owners[port], 2); /* the worker of its upstream */
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
	server_start(server); /* all clocks start at the same time */
	for (unsigned w = 1; w < LIFE_WORKERS; w++)
		assert_int_equal(server->workers[w].clock.base_tsc,
				 server->workers[0].clock.base_tsc);
	server_halted(server);
}

/* A shared port gets a transmit ring only when a worker other than the owner transmits. */
TEST(transmit_ring_is_created_on_demand) {
	const struct service_group *added;
	unsigned port;

	life_kit_open(kit, 1, 3);
	assert_int_equal(server_move_group(server, 0, PART_LOWER | PART_UPPER, 2), 0);
	added = life_kit_load_extra(kit, 3, 0, 2, 2, 2);
	life_kit_add(kit, added);
	port = server->ports.of[0][DEVICE_RPHY];
	assert_non_null(server->shares.of[port]);
	assert_null(server->shares.of[port]->send.ring);
	life_kit_send_packets(kit, 0, added, 1);
	life_kit_run(kit, 3 * MS);
	assert_int_equal(kit->depi_seen[3][0] + kit->depi_seen[3][1], 1);
	assert_int_equal(server_move_group(server, 1, PART_LOWER, 0), 0);
	assert_non_null(server->groups[1].downstream->lower.rphy.ring);
	assert_null(server->groups[0].downstream->lower.rphy.ring); /* runs on the owner's worker */
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
	life_kit_send_packets(kit, 0, added, 1);
	life_kit_run(kit, 3 * MS);
	assert_int_equal(server_worker_resume(server, 2), 0);
	assert_int_equal(server->layout.groups[0].upstream, 2);
	/* was not on this worker when it was drained */
	assert_int_equal(server->layout.groups[0].lower, 0);
	assert_int_equal(server->layout.groups[1].lower, 2);
	assert_int_equal(server->shares.owners[port], 2);
	life_kit_send_packets(kit, 0, added, 1);
	life_kit_run(kit, 3 * MS);
	assert_int_equal(life_kit_totals(kit).down_out, 3);
}

TEST(frames_in_transmit_ring_are_pending) {
	uint64_t pending;

	life_kit_open(kit, 2, 2);
	life_kit_send_packets(kit, 0, &kit->file[0], 4);
	for (uint64_t end = kit->now + MS; kit->now < end; kit->now += MS / 50) {
		for (unsigned w = 0; w < 2;
		     w++) { /* the third worker owns the port and does not run */
			server->workers[w].clock.now = kit->now;
			worker_round(&server->workers[w]);
		}
	}
	pending = server_shares_pending_out(&server->shares);
	assert_in_range(pending, 1, 4);
	assert_int_equal(server_pending(server), pending);
	life_kit_run(kit, MS);
	assert_int_equal(server_pending(server), 0);
	assert_int_equal(life_kit_totals(kit).down_out, 4);
}

static struct server_rounds manual_rounds;
static uint64_t began; /* ns */

static void run_round(void *arg) {
	life_kit_run(arg, ROUND_NS);
}

static void open_manual(unsigned groups) {
	life_kit_open(kit, groups, GROUPS);
	manual_rounds = (struct server_rounds){run_round, kit};
	server->rounds = &manual_rounds;
	life_kit_run(kit, MS);
}

/* Limits the rate of the first modem's flow, so that packets stay queued. */
static void limit_flow(uint64_t rate) {
	struct service_flow *flow;

	load_file_groups(2);
	flow = &file_groups[0].modems[0].service_flows[0];
	flow->sustained_rate = rate;
	flow->traffic_burst = 3000;
	flow->peak_rate = 0;
	reload_accepted("service group 1: 1 modem changed");
}

/* Removal of a modem waits for its queued packets, but only for CHANGE_DRAIN_MS. */
TEST(removed_modem_drains_its_queue) {
	static const uint64_t rates[] = {500000, 8000};

	for (unsigned slow = 0; slow < 2; slow++) {
		const struct downstream *d;
		uint64_t before, duration;

		open_manual(2);
		limit_flow(rates[slow]);
		for (unsigned i = 0; i < 40; i++)
			assert_true(life_kit_send_packet(kit, 0, &file_groups[0], 400, 2 * i));
		life_kit_run(kit, MS);
		d = server->groups[0].downstream;
		assert_true(downstream_pending(d) > 10);
		before = kit->now;
		file_groups[0].modems++;
		file_groups[0].modem_count--;
		reload_accepted("service group 1: 1 modem removed");
		file_groups[0].modems--;
		file_groups[0].modem_count++;
		duration = kit->now - before;
		assert_in_range(duration, slow * CHANGE_DRAIN_MS * MS,
				(CHANGE_DRAIN_MS + 10 * slow) * MS);
		if (!slow) /* flushes an incomplete DEPI frame */
			life_kit_run(kit, MS);
		assert_int_equal(downstream_pending(d), 0);
		assert_int_equal(d->upper.counters.drops[DROP_SERVICE_FLOW_REMOVED] > 10, slow);
		if (!slow) {
			assert_int_equal(counters_dropped(&d->upper.counters), 0);
			assert_int_equal(life_kit_totals(kit).down_out, 40);
		}
	}
}

static uint64_t maps_before;
static uint64_t stop_delay; /* ns from the request to stop the upstream scheduler until it stops */
static int log_fd = -1;

void __real_served_group_grant(struct served_group *g, bool on);
void __wrap_served_group_grant(struct served_group *g, bool on);

void __wrap_served_group_grant(struct served_group *g, bool on) {
	if (stop_delay > 0 && !on) {
		life_kit_run(kit, stop_delay);
		maps_before = maps_sent();
		began = kit->now;
	}
	__real_served_group_grant(g, on);
}

/* Runs a round. Sends a burst late, as a modem that uses the last grant. */
static void run_round_with_burst(void *arg) {
	static const uint64_t last = 2 * MS;

	run_round(arg);
	assert_int_equal(maps_sent(), maps_before);
	if (log_fd >= 0 && !server->groups[0].drained)
		assert_int_equal(lseek(log_fd, 0, SEEK_END), 0);
	if (kit->now >= began + last && kit->now < began + last + ROUND_NS)
		assert_true(life_kit_send_burst(kit, 0, &kit->file[0], 0));
}

static void open_scheduled(void) {
	life_upstream_scheduler = true;
	open_manual(2);
	life_upstream_scheduler = false;
	life_kit_run(kit, 10 * MS);
	maps_before = maps_sent();
	assert_true(maps_before > 2);
	manual_rounds.pass = run_round_with_burst;
	began = kit->now;
}

/* Draining or removing a group waits for granted bursts, up to the limit. */
TEST(outstanding_grants_are_awaited) {
	uint64_t granted_ahead;

	open_scheduled();
	granted_ahead = grants_ahead(server->groups[0].sg);
	assert_in_range(granted_ahead, 3 * MS, 5 * MS);
	server_group_drain(server, 0, 1000);
	assert_in_range(kit->now - began, granted_ahead, granted_ahead + MS);
	assert_int_equal(kit->received_up[1], 1);
	began = kit->now;
	server_group_drain(server, 0, 1000); /* no grant is outstanding */
	assert_int_equal(kit->now, began);
	open_scheduled();
	server_group_drain(server, 0, 1);
	assert_in_range(kit->now - began, MS, MS + MS / 10);
	open_scheduled();
	life_kit_remove(kit, 0, 1000);
	assert_int_equal(server->removed.up.values[COUNTER_MAPS], maps_before);
	assert_int_equal(kit->received_up[1], 1);
}

/* MAPs may be made until the worker stops the upstream scheduler. */
TEST(grants_until_scheduler_stops_are_awaited) {
	open_scheduled();
	stop_delay = 10 * MS;
	server_group_drain(server, 0, 1000);
	stop_delay = 0;
	assert_in_range(kit->now - began, grants_ahead(server->groups[0].sg), 5 * MS);
	assert_int_equal(kit->received_up[1], 1);
}

/* The log reports a drain once the group receives nothing. */
TEST(drain_is_logged_when_reception_stops) {
	char logged[128] = "";

	log_fd = memfd_create("log", 0);
	log_open(&(struct log_options){.level = LEVEL_INFO, .fd = log_fd});
	open_scheduled();
	assert_int_equal(ftruncate(log_fd, 0), 0);
	server_group_drain(server, 0, 1000);
	log_close();
	assert_true(pread(log_fd, logged, sizeof(logged) - 1, 0) > 0);
	assert_non_null(strstr(logged, "service group 1 drained: reception stopped"));
	close(log_fd);
	log_fd = -1;
}

EACH_TEST(NULL, group_file_teardown)
ALL_TESTS(NULL, fixture_stop)
