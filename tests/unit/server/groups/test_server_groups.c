/* SPDX-License-Identifier: BSD-3-Clause */
/* Several groups in one process: none knows of the other, and the placement on workers changes nothing. */
#include "test_main.h"

#include <rte_ethdev.h>

#include "platform/pad.h"
#include "server/running.h"

#include "fixture.h"
#include "life_kit.h"
#include "random.h"

#define PACKETS 600
#define GROUPS LIFE_APART
#define MEMORY_MB 512

static struct life_kit storage, *const bench = &storage;

static const unsigned one_core[GROUPS][3] = {{0, 0, 0}, {0, 0, 0}, {0, 0, 0}};

static void serve(unsigned groups, const unsigned workers[][3]) {
	life_kit_apart(bench, groups, workers);
	life_kit_serve(bench, MEMORY_MB);
}

static void down(unsigned group, size_t size, uint32_t serial) {
	assert_true(life_kit_down(bench, group, &bench->file[group], size, serial));
}

/* A group whose queue is full drops its own packets, and no other's; what it may keep is no more than
 * its own. */
TEST(a_full_group) {
	uint64_t sent = 0;

	serve(2, one_core);
	for (int round = 0; round < 40; round++) {
		for (int i = 0; i < 60; i++, sent++)
			down(0, 1400, 2 * (uint32_t)sent);
		life_kit_settle(bench, 1); /* time stands still: nothing goes out */
		down(1, 1400, 2 * (uint32_t)round);
	}
	life_kit_settle(bench, 100000000);
	assert_true(life_kit_down_of(bench, 0).drops[DROP_FLOW_BUFFER_FULL] > 0);
	assert_int_equal(life_kit_down_of(bench, 0).values[COUNTER_RECEIVED], sent);
	assert_int_equal(life_kit_down_of(bench, 1).values[COUNTER_RECEIVED], 40);
	assert_int_equal(life_kit_down_of(bench, 1).values[COUNTER_TRANSMITTED], 40);
}

/* Packets, bursts and messages that groups were sent. */
static struct {
	uint64_t down, up, messages;
} sent[GROUPS];

/* Random traffic of all groups, always the same; the first one may be without an upstream. */
static void play(const unsigned workers[][3], bool upstream) {
	struct random random = {.state = 987654321};

	memset(sent, 0, sizeof(sent));
	life_kit_apart(bench, GROUPS, workers);
	bench->file[0].upstream_channel_count = upstream;
	for (unsigned g = 0; g < GROUPS;
	     g++) /* while packets come, DEPI frames go when they are full */
		bench->file[g].rphy.flush_ns = 10000000;
	life_kit_serve(bench, MEMORY_MB);
	for (uint32_t n = 0; n < PACKETS; n++) {
		unsigned group = random_below(&random, GROUPS), what = random_below(&random, 24);
		size_t size = random_between(&random, 60, 1500);

		if (what >= 8) {
			down(group, size, n);
			sent[group].down++;
		} else if (what > 0 && (group > 0 || upstream)) {
			assert_true(life_kit_up(bench, group, &bench->file[group], n));
			sent[group].up++;
		} else if (group > 0 || upstream) {
			life_kit_message(bench, group);
			sent[group].messages++;
		}
		if (random_below(&random, 8) == 0)
			life_kit_settle(bench, random_below(&random, 10) * 10000);
	}
	life_kit_settle(bench, 20000000);
}

/* Counters are the group's, and messages of its modems leave by its control port. */
static void check_group(unsigned g) {
	struct counters down = life_kit_down_of(bench, g);
	const struct upstream *u = bench->server.groups[g].upstream;
	struct rte_mbuf *m;

	assert_int_equal(down.values[COUNTER_RECEIVED], sent[g].down);
	assert_int_equal(down.values[COUNTER_TRANSMITTED], sent[g].down);
	for (; rte_eth_rx_burst(bench->control[g], 0, &m, 1) == 1; sent[g].messages--) {
		assert_int_equal(rte_pktmbuf_pkt_len(m), ETHERNET_LEAST);
		rte_pktmbuf_free(m);
	}
	assert_int_equal(sent[g].messages, 0);
	assert_int_equal(bench->taken_up[g + 1], sent[g].up);
	assert_int_equal(u != NULL, bench->server.groups[g].crypto.up_schedules != NULL);
	if (u != NULL)
		assert_int_equal(u->counters.values[COUNTER_TRANSMITTED], sent[g].up);
}

TEST(placements_give_the_same_bytes) {
	static const unsigned placements[][GROUPS][3] = {
		{{0, 0, 0}, {0, 0, 0}, {0, 0, 0}}, {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}},
		{{0, 3, 0}, {1, 3, 1}, {2, 3, 2}}, {{0, 1, 2}, {3, 4, 5}, {6, 7, 8}},
		{{0, 1, 1}, {1, 0, 0}, {0, 1, 2}}, {{0, 0, 1}, {0, 0, 1}, {1, 1, 0}},
		{{0, 0, 3}, {0, 0, 1}, {1, 1, 0}}, /* the first one without an upstream */
	};
	static const unsigned workers[] = {1, 3, 4, 9, 3, 2, 2};
	static uint64_t first[GROUPS][2];

	for (size_t p = 0; p < ARRAY_COUNT(placements); p++) {
		bool upstream = p < ARRAY_COUNT(placements) - 1;

		play(placements[p], upstream);
		assert_int_equal(bench->server.worker_count, workers[p]);
		assert_int_equal(bench->server.groups[0].upstream != NULL, upstream);
		for (unsigned g = 0; g < GROUPS; g++) {
			check_group(g);
			if (p == 0)
				memcpy(first[g], bench->digest[g + 1], sizeof(first[g]));
			if (g > 0 || upstream)
				assert_memory_equal(bench->digest[g + 1], first[g],
						    sizeof(first[g]));
		}
	}
}

/* A start that a later group breaks is freed, with those before it. */
TEST(a_group_that_cannot_be_made) {
	for (unsigned broken = 0; broken < GROUPS; broken++) {
		struct rte_ring *taken;
		char name[32];

		life_kit_apart(bench, GROUPS, one_core);
		snprintf(name, sizeof(name), "hand_over_%u", broken + 1);
		taken = rte_ring_create(name, 64, SOCKET_ID_ANY, 0);
		assert_non_null(taken);
		assert_int_equal(life_kit_try(bench, MEMORY_MB), -1);
		assert_int_equal(bench->server.group_count, broken + 1);
		life_kit_free(bench);
		assert_null(rte_mempool_lookup("packets"));
		assert_null(rte_mempool_lookup("dataplane_ops"));
		assert_null(rte_mempool_lookup("dataplane_sess"));
		assert_null(bench->server.groups);
		assert_null(bench->server.workers);
		server_free(&bench->server); /* there is nothing to free any more */
		rte_ring_free(taken);
	}
	serve(GROUPS, one_core); /* nothing is left of them */
}

/* Workers 0, 1 and 2 are upper MAC, lower MAC and upstream of the first group; 3 has all of the second. */
static const unsigned four_workers[2][3] = {{0, 1, 2}, {3, 3, 3}};

static void expect_peers(unsigned worker, uint64_t to, uint64_t by) {
	const struct worker *w = &bench->server.workers[worker];

	assert_int_equal(w->hands_to.bits[0], to);
	assert_int_equal(w->handed_by.bits[0], by);
	assert_int_equal(w->hands_to.bits[1] | w->handed_by.bits[1], 0);
}

TEST(who_wakes_whom) {
	struct server *s = &bench->server;

	serve(2, four_workers);
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

TEST(kinds) {
	struct server *s = &bench->server;
	struct power_config p = power_config_default();

	serve(2, four_workers);
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
	expect_kind(idle_supported(IDLE_MWAITX) ? IDLE_MWAITX : IDLE_POLL);
	assert_int_equal(s->idle_refused, !idle_supported(IDLE_MWAITX));
	assert_false(s->workers[0].wakes || s->workers[1].woken);
	assert_int_equal(s->workers[3].source_count, 0);
	p.idle = IDLE_AUTO;
	server_idle(s, &p);
	expect_kind(idle_best(false)); /* the machine is not known to be too small */
	assert_false(server_may_sleep(s));
}

EACH_TEST(NULL, life_kit_end)
ALL_TESTS(NULL, fixture_stop)
