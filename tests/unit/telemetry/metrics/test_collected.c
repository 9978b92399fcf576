/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectors of groups beside what they collect of: groups that share their ports, and have schedulers both ways. */
#include "test_main.h"

#include <string.h>

#include "scheduler/report.h"
#include "server/measure.h"
#include "telemetry/metrics/metrics.h"

#include "fixture.h"
#include "life_bench.h"
#include "told.h"

#define GROUPS 2
#define MS 1000000ull

static struct life_bench storage, *const bench = &storage;
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
	assert_true(told_walk(&source, &(struct metrics_selection){.modems = true, .flows = true}));
}

static int begin(void **state) {
	uint32_t serial = 0;

	life_scheduled = true;
	life_bench_open(bench, GROUPS, GROUPS);
	metrics_source_start(&source);
	assert_int_equal(server_latency(&bench->server, true), 0);
	for (unsigned i = 0; i < 5; i++, serial++) {
		for (unsigned g = 0; g < GROUPS; g++) {
			life_bench_down(bench, LIFE_SHARED, &bench->file[g], 200, serial);
			life_bench_up(bench, LIFE_SHARED, &bench->file[g], serial);
		}
	}
	life_bench_settle(bench, 2 * MS);
	life_bench_up_open(bench);
	life_bench_pass(bench, MS);
	for (unsigned i = 0; i < 50; i++) /* more than is sent at once */
		life_bench_down(bench, LIFE_SHARED, &bench->file[0], 1400, serial++);
	for (unsigned w = 0; w < LIFE_WORKERS; w++)
		worker_round(&bench->server.workers[w]);
	return 0;
}

static int end(void **state) {
	life_bench_settle(bench, 2 * MS);
	life_bench_close(bench);
	return 0;
}

static void minislots_are(const char *id, const char *channel, const struct maps_counts *c) {
	const char *const name = "vcmts_upstream_minislots_total";

	told_is(TOLD(name, id, channel, "data"), c->data_minislots);
	told_is(TOLD(name, id, channel, "request"), c->request_minislots);
	told_is(TOLD(name, id, channel, "initial"), c->initial_minislots);
	told_is(TOLD(name, id, channel, "station"), c->station_minislots);
	told_is(TOLD(name, id, channel, "idle"),
		c->minislots - c->data_minislots - c->request_minislots - c->initial_minislots -
			c->station_minislots);
}

TEST(of_the_upstream_scheduler) {
	struct ds_messages *first = &bench->server.groups[0].downstream->lower.messages;
	struct maps_counts c;

	assert_non_null(first->path.ring);
	first->delay_sum = 3 * CLOCK_NS_PER_S;
	first->delay_max = 2 * CLOCK_NS_PER_S;
	walk();
	told_is(TOLD("vcmts_message_delay_seconds_total", "1"), 3);
	told_is(TOLD("vcmts_message_delay_max_seconds", "1"), 2);
	for (unsigned g = 0; g < GROUPS; g++) {
		const struct maps *maps = group(g)->upstream->grant.maps;
		char id[TOLD_NUMBER];

		told_text(g + 1, id);
		maps_counts(maps, 0, &c);
		assert_true(c.maps > 0 && c.minislots > 0 && c.request_minislots > 0);
		minislots_are(id, "1", &c);
		told_is(TOLD("vcmts_upstream_maps_total", id, "1", "made"), c.maps);
		told_is(TOLD("vcmts_upstream_maps_total", id, "1", "late"), c.late);
		told_is(TOLD("vcmts_upstream_grants_total", id, "1"), c.grants);
		told_is(TOLD("vcmts_upstream_granted_bytes_total", id, "1"), c.granted_bytes);
		told_is(TOLD("vcmts_upstream_pending_total", id, "1"), c.pendings);
		maps_counts(maps, MAPS_NONE, &c);
		told_is(TOLD("vcmts_upstream_owed_bytes", id), c.owed_bytes);
	}
}

static void efforts_are(const char *id, const char *direction, const struct effort *e) {
	told_is(TOLD("vcmts_polls_total", id, direction, "useful"), e->polls_useful);
	told_is(TOLD("vcmts_polls_total", id, direction, "empty"), e->polls_empty);
	told_is(TOLD("vcmts_lookups_total", id, direction), e->lookups);
	told_is(TOLD("vcmts_looked_up_total", id, direction), e->looked_up);
}

TEST(of_groups) {
	uint64_t held = 0;

	walk();
	for (unsigned g = 0; g < GROUPS; g++) {
		const struct served_group *served = group(g);
		char id[TOLD_NUMBER];

		told_text(g + 1, id);
		told_is(TOLD("vcmts_service_group_info", id, "one-that-comes"), 1);
		efforts_are(id, "downstream", &served->downstream->upper.effort);
		efforts_are(id, "upstream", &served->upstream->effort);
		told_is(TOLD("vcmts_service_group_cipher_modems", id, "none"), 1);
		told_is(TOLD("vcmts_service_group_cipher_modems", id, "aes-128"), 1);
		told_is(TOLD("vcmts_service_group_cipher_modems", id, "des"), 0);
		told_is(TOLD("vcmts_downstream_queued_packets", id),
			scheduler_held(served->downstream->upper.scheduler));
		for (enum unit u = 0; u < UNITS; u++) {
			told_is(TOLD("vcmts_upstream_held", id, unit_name(u)),
				upstream_held(served->upstream, u));
			held += upstream_held(served->upstream, u);
		}
	}
	assert_true(held > 0);
}

/* Nothing is less than nothing, though numbers of several moments be put together. */
TEST(held_is_not_below_zero) {
	struct upstream *u = bench->server.groups[0].upstream;

	u->extract_joined.units += 1000;
	walk();
	u->extract_joined.units -= 1000;
	told_is(TOLD("vcmts_upstream_held", "1", unit_name(UNIT_FRAME)), 0);
}

TEST(of_modems) {
	const struct service_group *sg = group(0)->sg;
	uint64_t waiting = 0;

	walk();
	for (size_t m = 0; m < 2; m++) {
		const struct downstream *d = group(0)->downstream;
		struct scheduler_flow_report r;
		const char *mac = m == 0 ? "02:01:00:00:01:01" : "02:01:00:00:01:02";
		char sfid[TOLD_NUMBER];

		told_text(sg->modems[m].service_flows[0].id, sfid);
		scheduler_report_flow(d->upper.scheduler, ds_flow_number(d, m, 0), &r);
		told_is(TOLD("vcmts_modem_downstream_packets_total", "1", mac), r.packets);
		told_is(TOLD("vcmts_modem_downstream_bytes_total", "1", mac), r.bytes);
		told_is(TOLD("vcmts_modem_downstream_waiting_packets", "1", mac),
			r.waiting_packets);
		told_is(TOLD("vcmts_modem_downstream_waiting_bytes", "1", mac), r.waiting_bytes);
		told_is(TOLD("vcmts_flow_waiting_packets", "1", sfid, mac), r.waiting_packets);
		waiting += r.waiting_packets;
	}
	assert_true(waiting > 0);
	assert_int_equal(told_samples("vcmts_flow_drop_probability_ratio", NULL, NULL, NULL), 0);
	bench->server.groups[0].live.sg.modems[0].service_flows[0].aqm = AQM_DOCSIS_PIE;
	walk();
	assert_int_equal(told_samples("vcmts_flow_drop_probability_ratio", NULL, NULL, NULL), 1);
	bench->server.groups[0].live.sg.modems[0].service_flows[0].aqm = AQM_TAIL_DROP;
}

TEST(of_bonding_groups) {
	walk();
	for (unsigned b = 0; b < 2; b++) {
		const char *id = b == 0 ? "1" : "2";

		told_is(TOLD("vcmts_downstream_bonding_group_packets_total", "1", id), 10 + b);
		told_is(TOLD("vcmts_downstream_bonding_group_early_packets_total", "1", id),
			20 + b);
		told_is(TOLD("vcmts_downstream_bonding_group_skew_seconds_total", "1", id),
			(30 + b) / 2.0);
		told_is(TOLD("vcmts_downstream_bonding_group_max_skew_seconds", "2", id),
			(40 + b) / 2.0);
	}
	assert_int_equal(
		told_samples("vcmts_downstream_bonding_group_packets_total", NULL, NULL, NULL),
		2 * GROUPS);
}

static unsigned list_is(const char *id, const char *direction, const struct pipeline *p) {
	for (unsigned s = 0; s < p->count; s++) {
		told_is(TOLD("vcmts_stage_cycles_total", id, direction, p->stages[s].name),
			p->accounts[s].cycles);
		told_is(TOLD("vcmts_stage_packets_total", id, direction, p->stages[s].name),
			p->accounts[s].packets);
		told_is(TOLD("vcmts_stage_calls_total", id, direction, p->stages[s].name),
			p->accounts[s].calls);
	}
	return p->count;
}

TEST(of_stages) {
	unsigned stages = 0;

	walk();
	for (unsigned g = 0; g < GROUPS; g++) {
		const char *id = g == 0 ? "1" : "2";

		for (unsigned l = 0; l < DS_PIPELINES; l++)
			stages += list_is(id, "downstream",
					  downstream_pipeline(group(g)->downstream, l));
		for (unsigned l = 0; l < US_PIPELINES; l++)
			stages += list_is(id, "upstream", upstream_pipeline(group(g)->upstream, l));
	}
	assert_int_equal(told_samples("vcmts_stage_cycles_total", NULL, NULL, NULL), stages);
	assert_true(TOLD("vcmts_pipeline_latency_seconds", "1", "downstream")->histogram.count > 0);
	assert_true(TOLD("vcmts_pipeline_latency_seconds", "2", "upstream")->histogram.count > 0);
}

ALL_TESTS(begin, end)
