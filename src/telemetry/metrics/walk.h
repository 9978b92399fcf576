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

/* The collectors, a file a subject. */
#define COLLECTOR(name) void name(const struct walk *w, const struct metric_row *row);
/* collect_group.c */
COLLECTOR(collect_down_counter)
COLLECTOR(collect_up_counter)
COLLECTOR(collect_down_drops)
COLLECTOR(collect_up_drops)
COLLECTOR(collect_down_held)
COLLECTOR(collect_up_held)
COLLECTOR(collect_up_units)
COLLECTOR(collect_requests)
COLLECTOR(collect_group_info)
COLLECTOR(collect_group)
COLLECTOR(collect_cipher_modems)
COLLECTOR(collect_key_rolls)
/* collect_grants.c */
COLLECTOR(collect_grants)
COLLECTOR(collect_owed)
COLLECTOR(collect_message_delay)
/* collect_effort.c */
COLLECTOR(collect_effort)
/* collect_stages.c */
COLLECTOR(collect_stages)
COLLECTOR(collect_latency)
/* collect_scheduler.c */
COLLECTOR(collect_delay)
COLLECTOR(collect_channel)
COLLECTOR(collect_bonding_group)
/* collect_workers.c */
COLLECTOR(collect_worker)
COLLECTOR(collect_worker_info)
COLLECTOR(collect_worker_idle)
COLLECTOR(collect_umwait)
/* collect_power.c */
COLLECTOR(collect_power_policy)
COLLECTOR(collect_power_core)
COLLECTOR(collect_power_refused)
/* collect_ports.c */
COLLECTOR(collect_port_counter)
COLLECTOR(collect_port_drops)
COLLECTOR(collect_ethdev)
COLLECTOR(collect_port_state)
/* collect_process.c */
COLLECTOR(collect_process)
COLLECTOR(collect_build)
COLLECTOR(collect_changes)
COLLECTOR(collect_memory)
COLLECTOR(collect_pools)
COLLECTOR(collect_http)
COLLECTOR(collect_http_answers)
COLLECTOR(collect_http_ends)
/* collect_modems.c */
COLLECTOR(collect_modem)
COLLECTOR(collect_modem_drops)
COLLECTOR(collect_flow)
COLLECTOR(collect_flow_drops)
#undef COLLECTOR
