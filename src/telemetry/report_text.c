/* SPDX-License-Identifier: BSD-3-Clause */
/* The report as text for a terminal. */
#include "telemetry/report.h"

#include <inttypes.h>

#include "pipeline/percentiles.h"
#include "telemetry/report_grants.h"
#include "telemetry/report_latency.h"
#include "telemetry/report_scheduler.h"

static void print_cycles(FILE *out, const struct pipeline *const *pipelines, unsigned count,
			 uint64_t packets, const struct host *host) {
	uint64_t total = 0;

	fprintf(out, "  %-18s %10s %8s   (reference cycles at %.2f GHz; core at %.2f GHz)\n",
		"stage", "cycles/pkt", "burst", (double)host->tsc_hz / 1e9,
		(double)host->core_hz / 1e9);
	for (unsigned l = 0; l < count; l++) {
		const struct pipeline *p = pipelines[l];

		for (unsigned s = 0; s < p->count; s++) {
			const struct stage_account *a = &p->accounts[s];

			fprintf(out, "  %-18s %10.1f %8.1f\n", p->stages[s].name,
				(double)a->cycles / (double)packets,
				a->calls ? (double)a->packets / (double)a->calls : 0.0);
			total += a->cycles;
		}
	}
	fprintf(out, "  %-18s %10.1f\n", "all", (double)total / (double)packets);
}

static void print_drops(FILE *out, const struct counters *c) {
	for (unsigned r = 0; r < DROP_REASONS; r++) {
		if (c->drops[r] > 0)
			fprintf(out, "  dropped %-20s %12" PRIu64 "   %s\n",
				drop_name((enum drop_reason)r), c->drops[r],
				drop_meaning((enum drop_reason)r));
	}
}

static void print_latency(FILE *out, const struct served_group *g, enum direction direction) {
	struct latency *l = report_latency_of(g, direction);
	struct percentiles p;

	if (l == NULL)
		return;
	latency_collect(l);
	if (l->whole->total_count == 0)
		return;
	p = percentiles_us(l->whole);
	fprintf(out,
		"  in the pipeline: %.1f us mean, %.1f p50, %.1f p99, %.1f p99.9, %.1f p99.999, "
		"%.1f max\n",
		p.mean, p.p50, p.p99, p.p99_9, p.p99_999, p.max);
}

static void print_downstream(FILE *out, const struct served_group *g, const struct host *host,
			     double seconds) {
	const struct pipeline *lists[DS_PIPELINES];
	struct counters c;

	downstream_counters(g->downstream, &c);
	for (unsigned l = 0; l < DS_PIPELINES; l++)
		lists[l] = downstream_pipeline(g->downstream, l);
	fprintf(out,
		"downstream: received %" PRIu64 ", transmitted %" PRIu64 " in %" PRIu64
		" DEPI frames, dropped %" PRIu64 ", held %" PRIu64 ", %.1f s\n",
		c.values[COUNTER_RECEIVED], c.values[COUNTER_TRANSMITTED],
		c.values[COUNTER_DEPI_FRAMES], counters_dropped(&c),
		downstream_pending(g->downstream), seconds);
	print_drops(out, &c);
	report_scheduler_print(out, g);
	print_latency(out, g, DIRECTION_DOWN);
	if (host != NULL && downstream_accounted_packets(g->downstream) > 0)
		print_cycles(out, lists, DS_PIPELINES, downstream_accounted_packets(g->downstream),
			     host);
}

static void print_upstream(FILE *out, const struct served_group *g, const struct host *host) {
	struct upstream *u = g->upstream;
	const struct pipeline *lists[US_PIPELINES];
	uint64_t transmitted = u->counters.values[COUNTER_TRANSMITTED];

	for (unsigned l = 0; l < US_PIPELINES; l++)
		lists[l] = upstream_pipeline(u, l);
	fprintf(out, "upstream: transmitted %" PRIu64 "\n", transmitted);
	for (enum unit unit = 0; unit < UNITS; unit++)
		fprintf(out,
			"  %-9s in %12" PRIu64 "  out %12" PRIu64 "  dropped %8" PRIu64
			"  held %6" PRIu64 "\n",
			unit_name(unit), upstream_in(u, unit), upstream_out(u, unit),
			counters_dropped_units(&u->counters, unit), upstream_pending(u, unit));
	print_drops(out, &u->counters);
	print_latency(out, g, DIRECTION_UP);
	if (host != NULL && upstream_accounted_packets(u) > 0)
		print_cycles(out, lists, US_PIPELINES, upstream_accounted_packets(u), host);
}

/* Prints the counters of removed groups in one line. */
static void print_removed(FILE *out, const struct server_removed *removed) {
	if (removed->groups > 0)
		fprintf(out,
			"%u service groups were removed: received %" PRIu64 ", transmitted %" PRIu64
			", dropped %" PRIu64 "; upstream transmitted %" PRIu64 "\n",
			removed->groups, removed->down.values[COUNTER_RECEIVED],
			removed->down.values[COUNTER_TRANSMITTED], counters_dropped(&removed->down),
			removed->up.values[COUNTER_TRANSMITTED]);
}

void report_print(FILE *out, const struct server *s, const struct host *host, double seconds) {
	for (unsigned i = 0; i < s->group_count; i++) {
		const struct served_group *g = &s->groups[i];

		if (!g->in_service)
			continue;
		if (s->group_count > 1)
			fprintf(out, "service group %u, %s\n", g->sg->id, g->sg->name);
		print_downstream(out, g, host, seconds);
		report_grants_print(out, g);
		if (g->upstream != NULL && g->upstream->counters.values[COUNTER_RECEIVED] > 0)
			print_upstream(out, g, host);
	}
	print_removed(out, &s->removed);
}
