/* SPDX-License-Identifier: BSD-3-Clause */
/* Compares the metrics of groups, modems, schedulers and stages with their sources. Two groups share their ports. */
#include "test_main.h"

#include "scheduler/report.h"
#include "server/measure.h"
#include "telemetry/metrics/metrics.h"

#include "life_kit.h"
#include "metric_samples.h"

#define GROUPS 2
#define MS 1000000ull

static struct life_kit storage, *const bench = &storage;
static const char *const ids[] = {"1", "2"}; /* of groups, flows and bonding groups */
static struct metrics_source source = {.server = &storage.server, .version = "7"};

__typeof__(scheduler_report_group) __wrap_scheduler_report_group;

void __wrap_scheduler_report_group(const struct scheduler *s, uint32_t group,
				   struct scheduler_group_report *r) {
	assert_ptr_not_equal(s, NULL);
	*r = (struct scheduler_group_report){10 + group, 20 + group, (30 + group) * 500 * MS,
					     (40 + group) * 500 * MS};
}

static const struct served_group *group(unsigned g) {
	return &bench->server.groups[g];
}

static void walk(void) {
	assert_true(
		walk_samples(&source, &(struct metrics_selection){.modems = true, .flows = true}));
}

static int set_up(void **state) {
	life_upstream_scheduler = true;
	life_kit_open(bench, GROUPS, GROUPS);
	metrics_source_start(&source);
	assert_int_equal(server_latency(&bench->server, true), 0);
	for (unsigned g = 0; g < GROUPS; g++)
		life_kit_send_both(bench, LIFE_SHARED, &bench->file[g], 5);
	life_kit_settle(bench, 2 * MS);
	life_kit_send_open_burst(bench, LIFE_SHARED);
	life_kit_run(bench, MS);
	for (unsigned i = 0; i < 50; i++) /* more than one round transmits */
		life_kit_send_packet(bench, LIFE_SHARED, &bench->file[0], 1400, i);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		worker_round(&bench->server.workers[w]);
	return 0;
}

TEST(upstream_scheduler_metrics) {
	static const char minislots[] = "vcmts_upstream_minislots_total";
	struct ds_messages *first = &bench->server.groups[0].downstream->lower.messages;
	struct maps_counts c;

	assert_non_null(first->path.ring);
	first->delay_sum = 3 * CLOCK_NS_PER_S;
	first->delay_max = 2 * CLOCK_NS_PER_S;
	walk();
	check(FIND("vcmts_message_delay_seconds_total", "1"), 3);
	check(FIND("vcmts_message_delay_max_seconds", "1"), 2);
	for (unsigned g = 0; g < GROUPS; g++) {
		const struct maps *maps = group(g)->upstream->grant.maps;
		const char *id = ids[g];

		maps_counts(maps, 0, &c);
		assert_true(c.maps > 0 && c.minislots > 0 && c.request_minislots > 0);
		check(FIND(minislots, id, "1", "data"), c.data_minislots);
		check(FIND(minislots, id, "1", "request"), c.request_minislots);
		check(FIND(minislots, id, "1", "initial"), c.initial_minislots);
		check(FIND(minislots, id, "1", "station"), c.station_minislots);
		check(FIND(minislots, id, "1", "idle"),
		      c.minislots - c.data_minislots - c.request_minislots - c.initial_minislots -
			      c.station_minislots);
		check(FIND("vcmts_upstream_maps_total", id, "1", "made"), c.maps);
		check(FIND("vcmts_upstream_maps_total", id, "1", "late"), c.late);
		check(FIND("vcmts_upstream_grants_total", id, "1"), c.grants);
		check(FIND("vcmts_upstream_granted_bytes_total", id, "1"), c.granted_bytes);
		check(FIND("vcmts_upstream_pending_total", id, "1"), c.pendings);
		maps_counts(maps, MAPS_NONE, &c);
		check(FIND("vcmts_upstream_owed_bytes", id), c.owed_bytes);
	}
}

static void check_effort(const char *id, const char *direction, const struct poll_stats *e) {
	check(FIND("vcmts_polls_total", id, direction, "useful"), e->polls_useful);
	check(FIND("vcmts_polls_total", id, direction, "empty"), e->polls_empty);
	check(FIND("vcmts_lookups_total", id, direction), e->lookups);
	check(FIND("vcmts_looked_up_total", id, direction), e->lookup_packets);
}

TEST(group_metrics_values) {
	uint64_t pending = 0;

	walk();
	for (unsigned g = 0; g < GROUPS; g++) {
		const struct served_group *served = group(g);
		const char *id = ids[g];

		check(FIND("vcmts_service_group_info", id, "test-group"), 1);
		check_effort(id, "downstream", &served->downstream->upper.effort);
		check_effort(id, "upstream", &served->upstream->effort);
		check(FIND("vcmts_service_group_cipher_modems", id, "none"), 1);
		check(FIND("vcmts_service_group_cipher_modems", id, "aes-128"), 1);
		check(FIND("vcmts_service_group_cipher_modems", id, "des"), 0);
		check(FIND("vcmts_downstream_queued_packets", id),
		      scheduler_queued(served->downstream->upper.scheduler));
		for (enum unit u = 0; u < UNITS; u++) {
			check(FIND("vcmts_upstream_held", id, unit_name(u)),
			      upstream_pending(served->upstream, u));
			pending += upstream_pending(served->upstream, u);
		}
	}
	assert_true(pending > 0);
}

/* The metric is a difference of counters that are read at different times. */
TEST(pending_count_is_not_negative) {
	struct upstream *u = bench->server.groups[0].upstream;

	u->extract_joined.units += 1000;
	walk();
	u->extract_joined.units -= 1000;
	check(FIND("vcmts_upstream_held", "1", unit_name(UNIT_FRAME)), 0);
}

TEST(modem_metrics) {
	uint64_t waiting = 0;

	walk();
	for (size_t m = 0; m < 2; m++) {
		const struct downstream *d = group(0)->downstream;
		struct scheduler_flow_report r;
		const char *mac = m == 0 ? "02:01:00:00:01:01" : "02:01:00:00:01:02";

		scheduler_report_flow(d->upper.scheduler, ds_flow_number(d, m, 0), &r);
		check(FIND("vcmts_modem_downstream_packets_total", "1", mac), r.packets);
		check(FIND("vcmts_modem_downstream_bytes_total", "1", mac), r.bytes);
		check(FIND("vcmts_modem_downstream_waiting_packets", "1", mac), r.waiting_packets);
		check(FIND("vcmts_modem_downstream_waiting_bytes", "1", mac), r.waiting_bytes);
		check(FIND("vcmts_flow_waiting_packets", "1", ids[m], mac), r.waiting_packets);
		waiting += r.waiting_packets;
	}
	assert_true(waiting > 0);
	assert_int_equal(count_samples("vcmts_flow_drop_probability_ratio", NULL, NULL), 0);
	bench->server.groups[0].live.sg.modems[0].service_flows[0].aqm = AQM_DOCSIS_PIE;
	walk();
	assert_int_equal(count_samples("vcmts_flow_drop_probability_ratio", NULL, NULL), 1);
	bench->server.groups[0].live.sg.modems[0].service_flows[0].aqm = AQM_TAIL_DROP;
}

TEST(bonding_group_metrics) {
	walk();
	for (unsigned b = 0; b < 2; b++) {
		const char *id = ids[b];

		check(FIND("vcmts_downstream_bonding_group_packets_total", "1", id), 10 + b);
		check(FIND("vcmts_downstream_bonding_group_early_packets_total", "1", id), 20 + b);
		check(FIND("vcmts_downstream_bonding_group_skew_seconds_total", "1", id),
		      (30 + b) / 2.0);
		check(FIND("vcmts_downstream_bonding_group_max_skew_seconds", "2", id),
		      (40 + b) / 2.0);
	}
	assert_int_equal(count_samples("vcmts_downstream_bonding_group_packets_total", NULL, NULL),
			 2 * GROUPS);
}

static unsigned check_stages(const char *id, const char *direction, const struct pipeline *p) {
	for (unsigned s = 0; s < p->count; s++) {
		check(FIND("vcmts_stage_cycles_total", id, direction, p->stages[s].name),
		      p->accounts[s].cycles);
		check(FIND("vcmts_stage_packets_total", id, direction, p->stages[s].name),
		      p->accounts[s].packets);
		check(FIND("vcmts_stage_calls_total", id, direction, p->stages[s].name),
		      p->accounts[s].calls);
	}
	return p->count;
}

TEST(stage_metrics) {
	unsigned stages = 0;

	walk();
	for (unsigned g = 0; g < GROUPS; g++) {
		const char *id = ids[g];

		for (unsigned l = 0; l < DS_PIPELINES; l++)
			stages += check_stages(id, "downstream",
					       downstream_pipeline(group(g)->downstream, l));
		for (unsigned l = 0; l < US_PIPELINES; l++)
			stages += check_stages(id, "upstream",
					       upstream_pipeline(group(g)->upstream, l));
	}
	assert_int_equal(count_samples("vcmts_stage_cycles_total", NULL, NULL), stages);
	assert_true(FIND("vcmts_pipeline_latency_seconds", "1", "downstream")->histogram.count > 0);
	assert_true(FIND("vcmts_pipeline_latency_seconds", "2", "upstream")->histogram.count > 0);
}

static void check_counters(const char *id, const struct counters *c, enum direction direction) {
	for (enum counter i = 0; i < COUNTERS; i++) {
		if (counter_in(i, direction))
			check(FIND(metrics_of_counter(i, direction)->name, id),
			      (double)c->values[i]);
	}
}

/* Each drop reason of the direction has one sample. */
static void check_drops(const char *id, const struct counters *c, enum direction direction) {
	const char *metric = direction == DIRECTION_DOWN ? "vcmts_downstream_dropped_packets_total"
							 : "vcmts_upstream_dropped_total";
	unsigned reasons = 0;

	for (enum drop_reason r = 0; r < DROP_REASONS; r++) {
		if (!drop_in(r, direction))
			continue;
		check(FIND(metric, id, drop_name(r)), (double)c->drops[r]);
		reasons++;
	}
	assert_int_equal(count_samples(metric, "service_group", id), reasons);
}

TEST(counter_metrics) {
	for (unsigned g = 0; g < GROUPS; g++) {
		struct counters *lower = &bench->server.groups[g].downstream->lower.counters,
				*up = &bench->server.groups[g].upstream->counters, down,
				before[] = {*lower, *up};
		const char *id = ids[g];

		for (unsigned i = 0; i < DROP_REASONS; i++)
			up->drops[i] = lower->drops[i] = 1000 * (g + 1) + i;
		for (unsigned i = 0; i < COUNTERS; i++)
			up->values[i] = lower->values[i] = 3000 * (g + 1) + i;
		walk();
		downstream_counters(group(g)->downstream, &down);
		check_counters(id, &down, DIRECTION_DOWN);
		check_counters(id, up, DIRECTION_UP);
		check_drops(id, &down, DIRECTION_DOWN);
		check_drops(id, up, DIRECTION_UP);
		check(FIND("vcmts_downstream_held_packets", id),
		      downstream_pending(group(g)->downstream));
		*lower = before[0];
		*up = before[1];
	}
}

TEST(received_units_equal_output_drops_and_pending) {
	walk();
	for (enum unit u = 0; u < UNITS; u++) {
		uint64_t dropped = 0;

		for (unsigned i = 0; i < sample_count; i++) {
			if (strcmp(samples[i].m->name, "vcmts_upstream_dropped_total") == 0 &&
			    has_label(&samples[i], "service_group", "2") &&
			    has_label(&samples[i], "unit", unit_name(u)))
				dropped += samples[i].integer;
		}
		assert_int_equal(
			FIND("vcmts_upstream_units_in_total", "2", unit_name(u))->integer,
			FIND("vcmts_upstream_units_out_total", "2", unit_name(u))->integer +
				dropped + FIND("vcmts_upstream_held", "2", unit_name(u))->integer);
	}
	check(FIND("vcmts_upstream_units_in_total", "2", "packets"), 5);
}

TEST(configuration_metrics) {
	walk();
	check(FIND("vcmts_service_group_modems", "1"), 2);
	check(FIND("vcmts_service_group_service_flows", "2"), 2);
	check(FIND("vcmts_service_groups"), GROUPS);
	check(FIND("vcmts_build_info", "7"), 1);
	check(FIND("vcmts_downstream_channel_rate_bytes_per_second", "1", "2"), 500000000 / 8);
	assert_int_equal(FIND("vcmts_downstream_channel_packets_total", "2", "1")->integer +
				 FIND("vcmts_downstream_channel_packets_total", "2", "2")->integer,
			 5);
	assert_int_equal(count_samples("vcmts_worker_info", NULL, NULL), LIFE_WORKERS);
}

ALL_TESTS(set_up, life_kit_teardown)
