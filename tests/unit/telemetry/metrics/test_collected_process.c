/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the metrics of process, workers, cores and ports with their sources. Also tests the lock during a walk. */
#include "test_main.h"

#include <math.h>
#include <time.h>

#include <rte_ethdev.h>
#include <rte_malloc.h>

#include "telemetry/metrics/metrics.h"

#include "life_kit.h"
#include "metric_samples.h"

#define GROUPS 2
#define MS 1000000ull

static struct life_kit storage, *const bench = &storage;
static struct metrics_http_counts http = {
	.answers = {11, 12, 13, 14, 15, 16, 17, 18},
	.aborted = {21, 22, 23},
};
static struct metrics_source source = {.server = &storage.server,
				       .power = (struct power *)&storage,
				       .version = "7",
				       .http = &http};

__typeof__(power_get_report) __wrap_power_get_report;

/* Three cores: the third one is not governed, and no request for it failed. */
void __wrap_power_get_report(struct power *p, struct power_report *r) {
	assert_ptr_equal(p, source.power);
	*r = (struct power_report){.driver = "simulated", .core_count = 3};
	for (unsigned f = 0; f < POWER_FAULTS; f++)
		r->counts[f] = 100 + f;
	for (unsigned i = 0; i < 3; i++)
		r->cores[i] = (struct power_core_report){.core = 40 + i,
							 .khz = i < 2 ? 1000 + i : 0,
							 .requested_khz = i < 2 ? 2000 + i : 0,
							 .max_khz = i == 0 ? 3000 : 0,
							 .transitions = 50 + i,
							 .jumps = 60 + i};
	r->cores[0].counts[0] = 70;
	r->cores[1].counts[1] = 71; /* a reason why a core is not governed */
}

static bool no_memory; /* aligned_alloc() fails */

__typeof__(aligned_alloc) __real_aligned_alloc, __wrap_aligned_alloc;

void *__wrap_aligned_alloc(size_t alignment, size_t size) {
	return no_memory ? NULL : __real_aligned_alloc(alignment, size);
}

static unsigned locks; /* read locks of the walk */
static unsigned removed, removed_at; /* group removed before the lock of that number; 0: none */
static unsigned count_before, max_per_lock; /* samples before the lock; most under one lock */
static struct served_group saved; /* the removed group */

__typeof__(pthread_rwlock_rdlock) __real_pthread_rwlock_rdlock, __wrap_pthread_rwlock_rdlock;

int __wrap_pthread_rwlock_rdlock(pthread_rwlock_t *lock) {
	struct served_group *g = &bench->server.groups[removed];

	if (locks++ > 0)
		max_per_lock = RTE_MAX(max_per_lock, sample_count - count_before);
	count_before = sample_count;
	if (locks == removed_at) {
		saved = *g;
		g->in_service = false;
		g->sg = NULL;
		g->downstream = NULL;
		g->upstream = NULL;
	}
	return __real_pthread_rwlock_rdlock(lock);
}

static void walk(void) {
	assert_true(walk_samples(&source, &(struct metrics_selection){0}));
}

/* With modems and flows. */
static void walk_all(void) {
	assert_true(
		walk_samples(&source, &(struct metrics_selection){.modems = true, .flows = true}));
}

static int set_up(void **state) {
	life_kit_open(bench, GROUPS, GROUPS);
	metrics_source_start(&source);
	for (unsigned g = 0; g < GROUPS; g++)
		life_kit_send_both(bench, LIFE_SHARED, &bench->file[g], 1);
	life_kit_settle(bench, 2 * MS);
	return 0;
}

static void check_share_counters(const char *name, const struct counters *all) {
	uint64_t sum = 0;

	for (enum drop_reason r = 0; r < DROP_REASONS; r++) {
		if (drop_in(r, DIRECTION_PORT))
			check(FIND("vcmts_port_dropped_packets_total", name, drop_name(r)),
			      (double)all->drops[r]);
	}
	for (enum counter c = 0; c < COUNTERS; c++) {
		if (!counter_in(c, DIRECTION_PORT))
			continue;
		check(FIND(metrics_of_counter(c, DIRECTION_PORT)->name, name),
		      (double)all->values[c]);
		sum += all->values[c];
	}
	assert_true(sum > 0);
}

static void check_driver_counters(const char *name, const struct rte_eth_stats *s) {
	check(FIND("vcmts_ethdev_received_packets_total", name), s->ipackets);
	check(FIND("vcmts_ethdev_received_bytes_total", name), s->ibytes);
	check(FIND("vcmts_ethdev_missed_packets_total", name), s->imissed);
	check(FIND("vcmts_ethdev_errors_total", name), s->ierrors);
	check(FIND("vcmts_ethdev_no_buffer_total", name), s->rx_nombuf);
	check(FIND("vcmts_ethdev_transmitted_packets_total", name), s->opackets);
	check(FIND("vcmts_ethdev_transmitted_bytes_total", name), s->obytes);
	check(FIND("vcmts_ethdev_transmit_errors_total", name), s->oerrors);
}

TEST(port_metrics) {
	static const struct rte_eth_stats last = {1, 2, 3, 4, 5, 6, 7, 8};
	struct server_port *ports = bench->server.ports.list;

	assert_int_equal(bench->server.ports.count, 2);
	ports[0].state = SERVER_PORT_UP;
	walk();
	for (unsigned p = 0; p < 2; p++) {
		struct counters all;
		struct rte_eth_stats stats;

		share_counters(bench->server.shares.of[p], &all);
		check_share_counters(ports[p].name, &all);
		assert_int_equal(rte_eth_stats_get(ports[p].id, &stats), 0);
		check_driver_counters(ports[p].name, &stats);
		check(FIND("vcmts_ethdev_link_up", ports[p].name, p == 0 ? "network" : "rphy"),
		      ports[p].state == SERVER_PORT_UP);
	}
	ports[0].open = false; /* a removed device keeps its last statistics */
	ports[0].state = SERVER_PORT_GONE;
	ports[0].last = last;
	walk();
	check_driver_counters(ports[0].name, &last);
	check(FIND("vcmts_ethdev_link_up", ports[0].name), 0);
	check(FIND("vcmts_port_state", "1", "network", NULL, "gone"), 1);
	check(FIND("vcmts_port_state", "1", "network", NULL, "up"), 0);
	ports[0].open = true;
	ports[0].state = SERVER_PORT_UP;
}

TEST(core_metrics) {
	walk();
	check(FIND("vcmts_power_policy_info", power_policy_name(0), "simulated"), 1);
	check(FIND("vcmts_core_frequency_hertz"), 1000000);
	check(FIND("vcmts_core_frequency_wished_hertz", "40"), 2000000);
	check(FIND("vcmts_power_transitions_total", "40"), 50);
	check(FIND("vcmts_power_jumps_total"), 60);
	for (unsigned f = 0; f < POWER_FAULTS; f++)
		check(FIND("vcmts_power_refused_total", "all", power_fault_name(f)), 100 + f);
	check(FIND("vcmts_power_refused_total", "40", cpufreq_reason_name(0)), 70);
	check(FIND("vcmts_power_refused_total", "40", cpufreq_reason_name(1)), 0);
	check(FIND("vcmts_power_refused_total", "41"), 71);
	assert_int_equal(count_samples("vcmts_power_refused_total", "core", "42"), 0);
}

TEST(process_metrics_values) {
	const struct server_pools *p = &bench->server.pools;
	struct rte_malloc_socket_stats stats;
	uint64_t heap = 0, used = 0;

	bench->server.idle_refused = 5;
	bench->server.refused = 6;
	bench->server.removed.groups = 7;
	walk();
	for (unsigned s = 0; s < rte_socket_count(); s++) {
		assert_int_equal(rte_malloc_get_socket_stats((int)rte_socket_id_by_idx(s), &stats),
				 0);
		heap += stats.heap_totalsz_bytes;
		used += stats.heap_allocsz_bytes;
	}
	check(FIND("vcmts_memory_bytes", "dpdk_heap"), heap);
	check(FIND("vcmts_memory_bytes", "dpdk_heap_used"), used);
	assert_in_range(FIND("vcmts_memory_bytes", "resident")->integer, 1 << 20, 1ull << 40);
	assert_true(fabs(FIND("vcmts_start_time_seconds", NULL)->number - (double)time(NULL)) <
		    3600);
	assert_in_range(FIND("vcmts_uptime_seconds", NULL)->number, 0, 3600);
	check(FIND("vcmts_idle_refused_total", NULL), 5);
	check(FIND("vcmts_changes_total", "refused"), 6);
	check(FIND("vcmts_changes_total", "made"), bench->server.generation);
	check(FIND("vcmts_removed_service_groups_total", NULL), 7);
	check(FIND("vcmts_pool_buffers", "packets"), p->packets->size);
	check(FIND("vcmts_pool_buffers_free", "packets"), rte_mempool_avail_count(p->packets));
	check(FIND("vcmts_pool_buffers", "pieces"), p->pieces->size);
	check(FIND("vcmts_pool_buffers_free", "pieces"), rte_mempool_avail_count(p->pieces));
	bench->server.removed.groups = 0;
}

TEST(scheduler_metrics_need_a_scheduler) {
	walk();
	assert_int_equal(count_samples("vcmts_message_delay_seconds_total", NULL, NULL), 0);
	assert_int_equal(count_samples("vcmts_upstream_owed_bytes", NULL, NULL), 0);
	assert_int_equal(count_samples("vcmts_upstream_maps_total", NULL, NULL), 0);
}

TEST(endpoint_metrics) {
	walk();
	check(FIND("vcmts_http_answers_total", "200"), 11);
	check(FIND("vcmts_http_answers_total", "413"), 16);
	check(FIND("vcmts_http_cut_off_total", "client"), 21);
	check(FIND("vcmts_http_cut_off_total", "error"), 23);
}

TEST(worker_metrics) {
	static const char *const numbers[] = {"0", "1", "2", "3"};
	static const char *const times[] = {
		"vcmts_worker_busy_seconds_total", "vcmts_worker_idle_seconds_total",
		"vcmts_worker_longest_round_seconds", "vcmts_worker_paused_seconds_total"};
	static const char *const counts[] = {
		"vcmts_worker_rounds_total",	     "vcmts_worker_busy_rounds_total",
		"vcmts_worker_descheduled_total",    "vcmts_worker_pauses_total",
		"vcmts_worker_pauses_bounded_total", "vcmts_worker_pauses_limited_total"};
	double hz = (double)rte_get_tsc_hz();

	for (unsigned i = 0; i < LIFE_WORKERS; i++) {
		struct worker *w = &bench->server.workers[i];

		w->busy_cycles = 1000000 * (i + 1);
		w->idle_cycles = 2000000 * (i + 1);
		w->longest = 3000000 * (i + 1);
		w->idle.ticks = 4000000 * (i + 1);
		w->rounds = 100 + i;
		w->busy_rounds = 200 + i;
		w->descheduled = 300 + i;
		w->idle.pauses = 400 + i;
		w->idle.bounded = 500 + i;
		w->idle.limited = 600 + i;
	}
	walk();
	for (unsigned i = 0; i < LIFE_WORKERS; i++) {
		const char *worker = numbers[i], *core = numbers[LIFE_FIRST_CORE + i];

		for (unsigned n = 0; n < 4; n++)
			check(FIND(times[n], worker, core), 1e6 * (n + 1) * (i + 1) / hz);
		for (unsigned n = 0; n < 6; n++)
			check(FIND(counts[n], worker, core), 100 * (n + 1) + i);
		check(FIND("vcmts_worker_idle_info", worker, core, "poll"), 1);
		check(FIND("vcmts_worker_info", worker, core, bench->server.workers[i].name), 1);
	}
}

TEST(samples_follow_the_order_of_metrics) {
	unsigned next = 0;

	walk_all();
	assert_int_equal(begun_count, metrics_count());
	for (unsigned m = 0; m < metrics_count(); m++) {
		assert_ptr_equal(begun[m], metrics_at(m));
		while (next < sample_count && samples[next].m == metrics_at(m))
			next++;
	}
	assert_int_equal(next, sample_count);
	for (unsigned a = 0; a < sample_count; a++)
		assert_true(!samples[a].real || isfinite(samples[a].number));
	assert_series_unique();
}

/* At most the samples of one modem or group are read under one lock. */
TEST(walk_releases_lock_between_samples) {
	static const char *const names[] = {"vcmts_modem_", "vcmts_flow_"};

	locks = max_per_lock = 0;
	assert_true(walk_samples(
		&source, &(struct metrics_selection){
				 .names = names, .name_count = 2, .modems = true, .flows = true}));
	assert_true(sample_count > 50);
	assert_in_range(max_per_lock, 1, SCHEDULER_VERDICTS);
	locks = max_per_lock = 0;
	walk();
	assert_in_range(locks, 100, metrics_count() + 1);
}

/* Removes a group at each lock of the walk in turn. The walk does not access it, and visits all of the other group. */
TEST(group_removed_during_walk_is_not_accessed) {
	for (removed = 0; removed < GROUPS; removed++) {
		const char *other = removed == 0 ? "2" : "1";
		unsigned at = 2, all;

		removed_at = 0;
		walk_all();
		all = count_samples(NULL, "service_group", other);
		for (locks = at; locks >= at; at++) {
			locks = 0;
			removed_at = at;
			walk_all();
			if (locks >= at)
				bench->server.groups[removed] = saved;
			assert_int_equal(count_samples(NULL, "service_group", other), all);
		}
		assert_true(at > 100);
	}
	removed_at = removed = 0;
}

TEST(walk_without_memory_visits_nothing) {
	bool walked;

	no_memory = true;
	walked = walk_samples(&source, &(struct metrics_selection){0});
	no_memory = false;
	assert_false(walked);
	assert_int_equal(begun_count + sample_count, 0);
	assert_int_equal(pthread_rwlock_trywrlock(&bench->server.lock), 0);
	pthread_rwlock_unlock(&bench->server.lock);
}

ALL_TESTS(set_up, life_kit_teardown)
