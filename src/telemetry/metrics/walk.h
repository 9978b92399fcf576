/* SPDX-License-Identifier: BSD-3-Clause */
/* What collectors have in common: one is called for a metric, and puts its samples. */
#pragma once

#include "telemetry/metrics/metrics.h"

#define WALK_ID 12 /* bytes of a service group's ID, or another small number, in decimals */

/* A group whose samples are wanted. */
struct walk_group {
	const struct served_group *served;
	uint32_t number; /* its ID */
	char id[WALK_ID];
	struct counters down, up;
};

/* A walk under way. */
struct walk {
	const struct metrics_source *source;
	const struct metrics_selection *selection;
	const struct metrics_sink *sink;
	unsigned group_count;
	struct walk_group *groups;
};

/*
 * Lets writers have the server's lock, and locks it again. A collector may call it between samples: then only what the
 * server has now may be used, and only of groups of which walk_has() says so.
 */
void walk_pause(const struct walk *w);
bool walk_has(const struct walk_group *g);

/* A row of the registry, and who collects it. */
struct metric_row {
	struct metric m;
	void (*collect)(const struct walk *w, const struct metric_row *row);
	unsigned which; /* of several that one collector has */
	enum { ROW_PLAIN, ROW_OF_GROUP, ROW_OF_MODEM, ROW_OF_FLOW } wanted; /* what it is of */
};

const struct metric_row *metric_rows(unsigned *count);

/* Puts a sample with the values of as many labels as the metric has. */
void walk_put(const struct walk *w, const struct metric_row *row, uint64_t value,
	      const char *const labels[METRIC_LABELS]);
void walk_put_real(const struct walk *w, const struct metric_row *row, double value,
		   const char *const labels[METRIC_LABELS]);
void walk_put_histogram(const struct walk *w, const struct metric_row *row,
			const struct metric_histogram *h, const char *const labels[METRIC_LABELS]);
#define LABELS(...) ((const char *const[METRIC_LABELS]){__VA_ARGS__})

/* A number for a label. Returns `text`. */
const char *walk_id(char text[WALK_ID], uint32_t number);

double walk_seconds(uint64_t cycles);

/*
 * A row. Names and units are as Prometheus has them: a unit is the end of the name (before _total), or "". `wanted`: PLAIN,
 * of the server; OF_GROUP, where samples of the group are wanted; OF_MODEM and OF_FLOW, where those of modems or
 * service flows are.
 */
#define METRIC(name, type, unit, wanted, labels, collector, which, help) \
	{{name, METRIC_##type, unit, labels, help}, collector, which, ROW_##wanted}
#define LABELLED(...) {__VA_ARGS__}

/* The rows of a file of collectors, in the order in which they are told. */
struct metric_rows {
	const struct metric_row *list;
	unsigned count;
};
#define METRIC_ROWS(rows) {rows, sizeof(rows) / sizeof(rows[0])}
extern const struct metric_rows group_metrics, grants_metrics, effort_metrics, stages_metrics,
	scheduler_metrics, workers_metrics, process_metrics, power_metrics, ports_metrics,
	modems_metrics;

/* For each counter of pipeline/ *.def, which is the row's `which`. */
void collect_down_counter(const struct walk *w, const struct metric_row *row);
void collect_up_counter(const struct walk *w, const struct metric_row *row);
void collect_port_counter(const struct walk *w, const struct metric_row *row);
