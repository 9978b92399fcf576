/* SPDX-License-Identifier: BSD-3-Clause */
/* What a walk over a server of two groups tells, and what may be chosen of it. */
#include "test_main.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ethdev.h>

#include "telemetry/metrics/metrics.h"

#include "fixture.h"
#include "groups_bench.h"
#include "told.h"

#define GROUPS 2
#define WAITING 120 /* packets at once, which take the better part of a millisecond to send */
#define SENT (5 + WAITING)

static const struct groups_threads threads[GROUPS] = {{1, 1, 1}, {1, 2, 3}};
static struct groups_bench storage, *const bench = &storage;
static struct metrics_source source;

static bool no_memory;

__typeof__(aligned_alloc) __real_aligned_alloc, __wrap_aligned_alloc;

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
	return no_memory ? NULL : __real_aligned_alloc(alignment, size);
}

static unsigned locks, removed,
	removed_at; /* which lock that group does not live to see; 0: none */
static unsigned told_before, told_most; /* samples under one lock */
static struct served_group gone;

__typeof__(pthread_rwlock_rdlock) __real_pthread_rwlock_rdlock, __wrap_pthread_rwlock_rdlock;

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
	struct served_group *g = &bench->server.groups[removed];

	if (locks++ > 0)
		told_most = RTE_MAX(told_most, told_count - told_before);
	told_before = told_count;
	if (locks == removed_at) {
		gone = *g;
		g->there = false;
		g->sg = NULL;
		g->downstream = NULL;
		g->upstream = NULL;
	}
	return __real_pthread_rwlock_rdlock(lock);
}

/* A frame that belongs to nobody, and one that is too short. */
static void bad_packets(unsigned group) {
	static const uint8_t nobody[60] = {0x02, 0, 0, 0, 0, 0x77, 2, 0, 0, 0, 0, 1, 0x86, 0xdd};
	static const size_t sizes[] = {sizeof(nobody), 10};

	for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
		struct rte_mbuf *m = fixture_packet(bench->server.pools.packets, nobody, sizes[i]);

		assert_int_equal(rte_eth_tx_burst(bench->network[group], 0, &m, 1), 1);
	}
}

static int begin(void **state) {
	groups_bench_config(bench, GROUPS, threads);
	groups_bench_open(bench);
	source = (struct metrics_source){.server = &bench->server, .version = "7"};
	metrics_source_start(&source);
	for (unsigned i = 0; i < 5; i++) {
		groups_bench_down(bench, 1, i % 2, i, 200);
		groups_bench_up(bench, 1, i, 100);
	}
	groups_bench_up(bench, 0, 1, 100);
	bad_packets(1);
	groups_bench_settle(bench);
	for (unsigned i = 0; i < WAITING; i++)
		groups_bench_down(bench, 1, 0, i, 1400);
	groups_bench_pass(bench, 1000000);
	return 0;
}

static int end(void **state) {
	groups_bench_close(bench);
	return 0;
}

static void check_counters(const char *id, const struct counters *c, enum direction direction) {
	for (enum counter i = 0; i < COUNTERS; i++) {
		if (counter_in(i, direction))
			told_is(TOLD(metrics_of_counter(i, direction)->name, id),
				(double)c->values[i]);
	}
}

/* Each reason once, and no other. */
static void check_drops(const char *id, const struct counters *c, enum direction direction) {
	const char *metric = direction == DIRECTION_DOWN ? "vcmts_downstream_dropped_packets_total"
							 : "vcmts_upstream_dropped_total";
	unsigned reasons = 0;

	for (enum drop_reason r = 0; r < DROP_REASONS; r++) {
		if (!drop_in(r, direction))
			continue;
		told_is(TOLD(metric, id, drop_name(r)), (double)c->drops[r]);
		reasons++;
	}
	assert_int_equal(told_samples(metric, id, NULL, NULL), reasons);
}

static void walk(const struct metrics_selection *selection) {
	assert_true(told_walk(&source, selection));
}

TEST(values_are_those_of_the_group) {
	walk(&(struct metrics_selection){0});
	for (unsigned g = 0; g < GROUPS; g++) {
		const struct served_group *served = &bench->server.groups[g];
		struct counters down;
		char id[8];

		snprintf(id, sizeof(id), "%u", g + 1);
		downstream_counters(served->downstream, &down);
		assert_int_equal(down.values[COUNTER_RECEIVED], g == 1 ? SENT + 2 : 0);
		assert_int_equal(counters_dropped(&down), g == 1 ? 2 : 0);
		assert_int_equal(served->upstream->counters.values[COUNTER_RECEIVED],
				 g == 1 ? 5 : 1);
		check_counters(id, &down, DIRECTION_DOWN);
		check_counters(id, &served->upstream->counters, DIRECTION_UP);
		check_drops(id, &down, DIRECTION_DOWN);
		check_drops(id, &served->upstream->counters, DIRECTION_UP);
		told_is(TOLD("vcmts_downstream_held_packets", id),
			downstream_held(served->downstream));
	}
}

/* Upstream, by unit: what came in is what went on, was dropped, or is held. */
TEST(units_add_up) {
	walk(&(struct metrics_selection){0});
	for (enum unit u = 0; u < UNITS; u++) {
		uint64_t dropped = 0;

		for (unsigned i = 0; i < told_count; i++) {
			if (strcmp(told[i].m->name, "vcmts_upstream_dropped_total") == 0 &&
			    told_has(&told[i], "service_group", "2") &&
			    told_has(&told[i], "unit", unit_name(u)))
				dropped += told[i].integer;
		}
		assert_int_equal(
			TOLD("vcmts_upstream_units_in_total", "2", unit_name(u))->integer,
			TOLD("vcmts_upstream_units_out_total", "2", unit_name(u))->integer +
				dropped + TOLD("vcmts_upstream_held", "2", unit_name(u))->integer);
	}
	told_is(TOLD("vcmts_upstream_units_in_total", "2", "packets"), 5);
}

TEST(other_values) {
	uint64_t received;

	walk(&(struct metrics_selection){0});
	told_is(TOLD("vcmts_service_group_modems", "1"), 2);
	told_is(TOLD("vcmts_service_group_service_flows", "2"), 2);
	told_is(TOLD("vcmts_service_group_cipher_modems", "2", "aes-128"), 1);
	told_is(TOLD("vcmts_service_groups"), GROUPS);
	told_is(TOLD("vcmts_build_info", "7"), 1);
	told_is(TOLD("vcmts_downstream_channel_rate_bytes_per_second", "1", "2"), 500000000 / 8);
	assert_int_equal(TOLD("vcmts_downstream_channel_packets_total", "2", "1")->integer +
				 TOLD("vcmts_downstream_channel_packets_total", "2", "2")->integer,
			 SENT);
	assert_int_equal(told_samples("vcmts_worker_info", NULL, NULL, NULL),
			 bench->server.worker_count);
	received = TOLD("vcmts_downstream_received_packets_total", "2")->integer;
	groups_bench_down(bench, 1, 0, 9, 200);
	groups_bench_pass(bench, 1000000);
	walk(&(struct metrics_selection){0});
	told_is(TOLD("vcmts_downstream_received_packets_total", "2"), (double)received + 1);
}

/* In the order of the registry, of each metric together, and no series twice. */
TEST(samples_are_in_order) {
	unsigned at = 0;

	walk(&(struct metrics_selection){.modems = true, .flows = true});
	assert_int_equal(told_begun_count, metrics_count());
	for (unsigned m = 0; m < metrics_count(); m++) {
		assert_ptr_equal(told_begun[m], metrics_at(m));
		while (at < told_count && told[at].m == metrics_at(m))
			at++;
	}
	assert_int_equal(at, told_count);
	for (unsigned a = 0; a < told_count; a++) {
		assert_true(!told[a].real || isfinite(told[a].number));
		for (unsigned b = a + 1; b < told_count && told[b].m == told[a].m; b++)
			assert_memory_not_equal(told[a].labels, told[b].labels,
						sizeof(told[a].labels));
	}
}

/* Writers get the lock between metrics, and between modems: no more than a modem's samples by reason, or a group's. */
TEST(a_walk_pauses) {
	static const char *const names[] = {"vcmts_modem_", "vcmts_flow_"};

	locks = told_most = 0;
	walk(&(struct metrics_selection){
		.names = names, .name_count = 2, .modems = true, .flows = true});
	assert_true(told_count > 50);
	assert_in_range(told_most, 1, SCHEDULER_VERDICTS);
	locks = told_most = 0;
	walk(&(struct metrics_selection){0});
	assert_in_range(locks, 100, metrics_count() + 1);
}

/* However far it is. Nothing of the group is looked at any more, and all of the other one is told. */
TEST(a_group_is_removed_meanwhile) {
	for (removed = 0; removed < GROUPS; removed++) {
		const char *other = removed == 0 ? "2" : "1";
		unsigned at = 2, all;

		removed_at = 0;
		walk(&(struct metrics_selection){.modems = true, .flows = true});
		all = told_samples(NULL, other, NULL, NULL);
		for (locks = at; locks >= at; at++) {
			locks = 0;
			removed_at = at;
			walk(&(struct metrics_selection){.modems = true, .flows = true});
			if (locks >= at)
				bench->server.groups[removed] = gone;
			assert_int_equal(told_samples(NULL, other, NULL, NULL), all);
		}
		assert_true(at > 100);
	}
	removed_at = removed = 0;
}

TEST(memory_is_short) {
	bool walked;

	no_memory = true;
	walked = told_walk(&source, &(struct metrics_selection){0});
	no_memory = false;
	assert_false(walked);
	assert_int_equal(told_begun_count + told_count, 0);
	assert_int_equal(pthread_rwlock_trywrlock(&bench->server.lock), 0);
	pthread_rwlock_unlock(&bench->server.lock);
}

ALL_TESTS(begin, end)
