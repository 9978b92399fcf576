/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests several groups with own ports in one process: they do not affect each other, and any
 * placement on workers gives the same bytes. */
#include "test_main.h"

#include <rte_ethdev.h>

#include "platform/pad.h"
#include "server/running.h"

#include "fixture.h"
#include "life_kit.h"
#include "random.h"

#define PACKETS 600
#define GROUPS LIFE_SEPARATE
#define MEMORY_MB 512

static struct life_kit storage, *const kit = &storage;

static const unsigned one_core[GROUPS][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};

static void serve(unsigned groups, const unsigned workers[][3]) {
	life_kit_configure_separate(kit, groups, workers);
	life_kit_serve(kit, MEMORY_MB);
}

static void send_packet(unsigned group, size_t size, uint32_t serial) {
	assert_true(life_kit_send_packet(kit, group, &kit->file[group], size, serial));
}

TEST(full_group_drops_only_its_packets) {
	uint64_t sent = 0;

	serve(2, one_core);
	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 60; i++, sent++)
			send_packet(0, 1400, 2 * (uint32_t)sent);
		life_kit_settle(kit, 1); /* too short to transmit anything */
		send_packet(1, 1400, 2 * (uint32_t)round);
	}
	life_kit_settle(kit, 100000000);
	assert_true(life_kit_down_counters(kit, 0).drops[DROP_FLOW_BUFFER_FULL] > 0);
	assert_int_equal(life_kit_down_counters(kit, 0).values[COUNTER_RECEIVED], sent);
	assert_int_equal(life_kit_down_counters(kit, 1).values[COUNTER_RECEIVED], 40);
	assert_int_equal(life_kit_down_counters(kit, 1).values[COUNTER_TRANSMITTED], 40);
}

/* Packets, bursts and messages that were sent per group. */
static struct {
	uint64_t down, up, messages;
} sent[GROUPS];

/* Sends the same random traffic in each call. `upstream`: the first group has one. */
static void send_random_traffic(const unsigned workers[][3], bool upstream) {
	struct random random = {.state = 987654321};

	memset(sent, 0, sizeof(sent));
	life_kit_configure_separate(kit, GROUPS, workers);
	kit->file[0].upstream_channel_count = upstream;
	for (unsigned g = 0; g < GROUPS;
	     g++) /* flush timer longer than the gaps: DEPI frames are full */
		kit->file[g].rphy.flush_ns = 10000000;
	life_kit_serve(kit, MEMORY_MB);
	for (uint32_t n = 0; n < PACKETS; n++) {
		unsigned group = random_below(&random, GROUPS), choice = random_below(&random, 24);
		size_t size = random_between(&random, 60, 1500);

		if (choice >= 8) {
			send_packet(group, size, n);
			sent[group].down++;
		} else if (choice > 0 && (group > 0 || upstream)) {
			assert_true(life_kit_send_burst(kit, group, &kit->file[group], n));
			sent[group].up++;
		} else if (group > 0 || upstream) {
			life_kit_send_message(kit, group);
			sent[group].messages++;
		}
		if (random_below(&random, 8) == 0)
			life_kit_settle(kit, random_below(&random, 10) * 10000);
	}
	life_kit_settle(kit, 20000000);
}

/* Checks counters, and that modems' messages leave by the group's control port. */
static void check_group(unsigned g) {
	struct counters down = life_kit_down_counters(kit, g);
	const struct upstream *u = kit->server.groups[g].upstream;
	struct rte_mbuf *m;

	assert_int_equal(down.values[COUNTER_RECEIVED], sent[g].down);
	assert_int_equal(down.values[COUNTER_TRANSMITTED], sent[g].down);
	for (; rte_eth_rx_burst(kit->control[g], 0, &m, 1) == 1; sent[g].messages--) {
		assert_int_equal(rte_pktmbuf_pkt_len(m), ETHERNET_MIN_FRAME);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(sent[g].messages, 0);
	assert_int_equal(kit->received_up[g + 1], sent[g].up);
	assert_int_equal(u != NULL, kit->server.groups[g].crypto.up_schedules != NULL);
	if (u != NULL)
		assert_int_equal(u->counters.values[COUNTER_TRANSMITTED], sent[g].up);
}

TEST(placement_does_not_change_bytes) {
	static const unsigned placements[][GROUPS][3] = {
		{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}},
		{{0, 3, 0}, {1, 3, 1}, {2, 3, 2}}, {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}},
		{{0, 1, 1}, {1, 0, 0}, {0, 1, 2}}, {{0, 0, 1}, {0, 0, 1}, {1, 1, 0}},
		{{0, 0, 3}, {0, 0, 1}, {1, 1, 0}}, /* the first group has no upstream */
	};
	static const unsigned workers[] = {1, 3, 4, 9, 3, 2, 2};
	static uint64_t first[GROUPS][2];

	for (size_t p = 0; p < ARRAY_COUNT(placements); p++) {
		bool upstream = p < ARRAY_COUNT(placements) - 1;

		send_random_traffic(placements[p], upstream);
		assert_int_equal(kit->server.worker_count, workers[p]);
		assert_int_equal(kit->server.groups[0].upstream != NULL, upstream);
		for (unsigned g = 0; g < GROUPS; g++) {
			check_group(g);
			if (p == 0)
				memcpy(first[g], kit->digest[g + 1], sizeof(first[g]));
			if (g > 0 || upstream)
				assert_memory_equal(kit->digest[g + 1], first[g], sizeof(first[g]));
		}
	}
}

/* If creation of a group fails at the start, everything is freed. */
TEST(failed_start_frees_all_groups) {
	for (unsigned broken = 0; broken < GROUPS; broken++) {
		struct rte_ring *obstacle;
		char name[32];

		life_kit_configure_separate(kit, GROUPS, one_core);
		snprintf(name, sizeof(name), "hand_over_%u", broken + 1);
		obstacle = rte_ring_create(name, 64, SOCKET_ID_ANY, 0);
		assert_non_null(obstacle);
		assert_int_equal(life_kit_try_serve(kit, MEMORY_MB), -1);
		assert_int_equal(kit->server.group_count, broken + 1);
		life_kit_free(kit);
		assert_null(rte_mempool_lookup("packets"));
		assert_null(rte_mempool_lookup("dataplane_ops"));
		assert_null(rte_mempool_lookup("dataplane_sess"));
		assert_null(kit->server.groups);
		assert_null(kit->server.workers);
		server_free(&kit->server); /* no effect: all is freed */
		rte_ring_free(obstacle);
	}
	serve(GROUPS, one_core); /* succeeds: no name is in use */
}

/* Workers 0, 1, 2: upper MAC, lower MAC, upstream of the first group; 3: the second group. */
static const unsigned four_workers[2][3] = {{0, 1, 2}, {3, 3, 3}};

static void check_peers(unsigned worker, uint64_t sends_to, uint64_t receives_from) {
	const struct worker *w = &kit->server.workers[worker];

	assert_int_equal(w->sends_to.bits[0], sends_to);
	assert_int_equal(w->receives_from.bits[0], receives_from);
	assert_int_equal(w->sends_to.bits[1] | w->receives_from.bits[1], 0);
}

TEST(workers_wake_those_they_hand_packets_to) {
	struct server *s = &kit->server;

	serve(2, four_workers);
	check_peers(0, 1 << 1, 0); /* hands packets to the lower MAC */
	check_peers(1, 0, 1 << 0);
	check_peers(2, 0, 0); /* only polls ports */
	check_peers(3, 0, 0);
	server_wakes_set(s, true);
	for (unsigned w = 0; w < 4; w++)
		check_peers(w, 0xf & ~(1u << w), 0xf & ~(1u << w));
	server_wakes_set(s, false);
	check_peers(0, 1 << 1, 0);
}

static void check_kind(enum idle_kind kind) {
	for (unsigned w = 0; w < kit->server.worker_count; w++)
		assert_int_equal(kit->server.workers[w].idle.config.kind, kind);
}

TEST(idle_kind_is_applied_to_workers) {
	struct server *s = &kit->server;
	struct power_config p = power_config_default();

	serve(2, four_workers);
	check_kind(IDLE_POLL);
	p.idle = IDLE_SLEEP;
	p.longest_pause = 7000;
	p.coalesce = 9000;
	server_idle(s, &p);
	check_kind(IDLE_SLEEP);
	assert_int_equal(s->power.idle, IDLE_SLEEP);
	assert_int_equal(s->workers[0].idle.config.longest, 7000);
	assert_int_equal(s->workers[0].idle.config.coalesce, 9000);
	assert_int_equal(s->power.coalesce, 9000);
	for (unsigned w = 0; w < 4; w++)
		assert_true(s->workers[w].wakes);
	/* a core can monitor one address: neither two ports, nor a port and a ring */
	assert_false(s->workers[1].monitored || s->workers[3].monitored);
	/* virtual ports have no interrupts; the upper MAC wakes the lower MAC */
	assert_false(s->workers[0].woken || s->workers[2].woken || s->workers[3].woken);
	assert_true(s->workers[1].woken);
	assert_int_equal(s->workers[0].source_count, 1);
	assert_int_equal(s->workers[1].source_count, 0);
	assert_int_equal(s->workers[3].source_count, 2);
	p.idle = IDLE_MWAITX;
	server_idle(s, &p);
	check_kind(idle_supported(IDLE_MWAITX) ? IDLE_MWAITX : IDLE_POLL);
	assert_int_equal(s->idle_refused, !idle_supported(IDLE_MWAITX));
	assert_false(s->workers[0].wakes || s->workers[1].woken);
	assert_int_equal(s->workers[3].source_count, 0);
	p.idle = IDLE_AUTO;
	server_idle(s, &p);
	check_kind(idle_best(false)); /* no lack of cores is known */
	assert_false(server_may_sleep(s));
}

EACH_TEST(NULL, life_kit_teardown)
ALL_TESTS(NULL, fixture_stop)
