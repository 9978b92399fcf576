/* SPDX-License-Identifier: BSD-3-Clause */
/* The interface of collectors: each is called for a metric and emits its samples. */
#pragma once

#include "telemetry/metrics/metrics.h"

#define WALK_ID 12 /* bytes of a decimal ID or another small number */

/* A selected group. */
struct walk_group {
	const struct served_group *served;
	uint32_t number; /* its ID */
	char id[WALK_ID];
	struct counters down, up;
};

/* A walk in progress. */
struct walk {
	const struct metrics_source *source;
	const struct metrics_selection *selection;
	const struct metrics_sink *sink;
	unsigned group_count;
	struct walk_group *groups;
};

/*
 * Releases the server's lock for writers and takes it again; a collector may call it between
 * samples. After it, pointers to objects may be invalid. Read objects from the server again, and
 * groups only if walk_has() is true.
 */
void walk_pause(const struct walk *w);
bool walk_has(const struct walk_group *g);

/* An entry of the registry: a metric and its collector. */
struct metric_entry {
	struct metric m;
	void (*collect)(const struct walk *w, const struct metric_entry *entry);
	unsigned which; /* selects the metric of a shared collector */
	/* scope of its samples */
	enum { SCOPE_PLAIN, SCOPE_OF_GROUP, SCOPE_OF_MODEM, SCOPE_OF_FLOW } wanted;
};

const struct metric_entry *metric_entries(unsigned *count);

/* Emits a sample with one value per label of the metric. */
void walk_put(const struct walk *w, const struct metric_entry *entry, uint64_t value,
	      const char *const labels[METRIC_LABELS]);
void walk_put_real(const struct walk *w, const struct metric_entry *entry, double value,
		   const char *const labels[METRIC_LABELS]);
void walk_put_histogram(const struct walk *w, const struct metric_entry *entry,
			const struct metric_histogram *h, const char *const labels[METRIC_LABELS]);
#define LABELS(...) ((const char *const[METRIC_LABELS]){__VA_ARGS__})

/* Formats a number for a label. Returns `text`. */
const char *walk_id(char text[WALK_ID], uint32_t number);

double walk_seconds(uint64_t cycles);

/*
 * An entry. Names and units follow Prometheus: the unit is the suffix of the name (before _total),
 * or "". `wanted` is the scope: PLAIN for the server; OF_GROUP, OF_MODEM and OF_FLOW for these
 * objects.
 */
#define METRIC(name, type, unit, wanted, labels, collector, which, help) \
	{{name, METRIC_##type, unit, labels, help}, collector, which, SCOPE_##wanted}
#define LABELLED(...) {__VA_ARGS__}

/* The entries of one file, in walk order. */
struct metric_entries {
	const struct metric_entry *list;
	unsigned count;
};
#define METRIC_ENTRIES(entries) {entries, sizeof(entries) / sizeof(entries[0])}
extern const struct metric_entries group_metrics, grants_metrics, poll_stats_metrics,
	stages_metrics, scheduler_metrics, workers_metrics, process_metrics, power_metrics,
	ports_metrics, modems_metrics;

/* Collect the counters of pipeline/ *.def; `which` is the counter. */
void collect_down_counter(const struct walk *w, const struct metric_entry *entry);
void collect_up_counter(const struct walk *w, const struct metric_entry *entry);
void collect_port_counter(const struct walk *w, const struct metric_entry *entry);
