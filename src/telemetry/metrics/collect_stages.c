/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of stage cycles and pipeline latency. */
#include "telemetry/metrics/histogram.h"
#include "telemetry/metrics/walk.h"

/* Selects the metric of a shared collector. */
enum { STAGE_CYCLES, STAGE_PACKETS, STAGE_CALLS };

static uint64_t account_value(const struct stage_account *a, unsigned which) {
	switch (which) {
	case STAGE_CYCLES: return a->cycles;
	case STAGE_PACKETS: return a->packets;
	default: return a->calls;
	}
}

static void put_list(const struct walk *w, const struct metric_entry *entry, const char *id,
		     const char *direction, const struct pipeline *p) {
	for (unsigned s = 0; s < p->count; s++)
		walk_put(w, entry, account_value(&p->accounts[s], entry->which),
			 LABELS(id, direction, p->stages[s].name));
}

static void collect_stages(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct served_group *served = w->groups[g].served;

		for (unsigned l = 0; l < DS_PIPELINES; l++)
			put_list(w, entry, w->groups[g].id, "downstream",
				 downstream_pipeline(served->downstream, l));
		for (unsigned l = 0; served->upstream != NULL && l < US_PIPELINES; l++)
			put_list(w, entry, w->groups[g].id, "upstream",
				 upstream_pipeline(served->upstream, l));
	}
}

static void put_latency(const struct walk *w, const struct metric_entry *entry, const char *id,
			const char *direction, struct latency *l) {
	struct metric_histogram h;

	if (!latency_measured(l))
		return;
	latency_readers_lock();
	latency_collect(l);
	histogram_of_times(&h, l->whole);
	latency_readers_unlock();
	walk_put_histogram(w, entry, &h, LABELS(id, direction));
}

static void collect_latency(const struct walk *w, const struct metric_entry *entry) {
	for (unsigned g = 0; g < w->group_count; g++) {
		const struct served_group *served = w->groups[g].served;

		put_latency(w, entry, w->groups[g].id, "downstream", &served->downstream->latency);
		if (served->upstream != NULL)
			put_latency(w, entry, w->groups[g].id, "upstream",
				    &served->upstream->latency);
	}
}

static const struct metric_entry entries[] = {
	METRIC("vcmts_stage_cycles_total", COUNTER, "cycles", OF_GROUP,
	       LABELLED("service_group", "direction", "stage"), collect_stages, STAGE_CYCLES,
	       "TSC cycles of calls of a stage that handled packets"),
	METRIC("vcmts_stage_packets_total", COUNTER, "packets", OF_GROUP,
	       LABELLED("service_group", "direction", "stage"), collect_stages, STAGE_PACKETS,
	       "packets into or out of calls of a stage, the larger number of each call"),
	METRIC("vcmts_stage_calls_total", COUNTER, "calls", OF_GROUP,
	       LABELLED("service_group", "direction", "stage"), collect_stages, STAGE_CALLS,
	       "calls of a stage that handled packets"),
	METRIC("vcmts_pipeline_latency_seconds", HISTOGRAM, "seconds", OF_GROUP,
	       LABELLED("service_group", "direction"), collect_latency, 0,
	       "latency of packets from port to port, if measured"),
};
const struct metric_entries stages_metrics = METRIC_ENTRIES(entries);
