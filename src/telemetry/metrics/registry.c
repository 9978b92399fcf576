/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry joins the entries of all collectors at the first access. */
#include <pthread.h>
#include <string.h>

#include <rte_debug.h>

#include "telemetry/metrics/walk.h"

#define DIRECTIONS 3
#define ENTRIES_MAX 256

/* Labels and collectors of the counters by direction. */
static const struct {
	enum direction direction;
	const char *labels[METRIC_LABELS];
	void (*collect)(const struct walk *w, const struct metric_entry *entry);
	int wanted;
} directions[DIRECTIONS] = {
	{DIRECTION_DOWN, {"service_group"}, collect_down_counter, SCOPE_OF_GROUP},
	{DIRECTION_UP, {"service_group"}, collect_up_counter, SCOPE_OF_GROUP},
	{DIRECTION_PORT, {"port"}, collect_port_counter, SCOPE_PLAIN},
};

/* All other metrics, in walk order. */
static const struct metric_entries *const others[] = {
	&group_metrics,	    &grants_metrics,  &poll_stats_metrics, &stages_metrics,
	&scheduler_metrics, &workers_metrics, &power_metrics,	   &ports_metrics,
	&process_metrics,   &modems_metrics,
};

static struct metric_entry entries[ENTRIES_MAX];
static unsigned entry_count;
static const struct metric *metric_of_counter[DIRECTIONS][COUNTERS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void add(const struct metric_entry *entry) {
	RTE_VERIFY(entry_count < ENTRIES_MAX);
	entries[entry_count++] = *entry;
}

static void add_counter(unsigned d, enum counter counter) {
	struct metric_entry entry = {
		.m = {.name = counter_metric(counter, directions[d].direction),
		      .type = METRIC_COUNTER,
		      .unit = counted_name(counter_counts(counter)),
		      .help = counter_meaning(counter)},
		.collect = directions[d].collect,
		.which = counter,
		.wanted = directions[d].wanted,
	};

	memcpy(entry.m.labels, directions[d].labels, sizeof(entry.m.labels));
	metric_of_counter[d][counter] = &entries[entry_count].m;
	add(&entry);
}

static void make_entries(void) {
	for (unsigned d = 0; d < DIRECTIONS; d++) {
		for (enum counter c = 0; c < COUNTERS; c++) {
			if (counter_in(c, directions[d].direction))
				add_counter(d, c);
		}
	}
	for (unsigned o = 0; o < RTE_DIM(others); o++) {
		for (unsigned r = 0; r < others[o]->count; r++)
			add(&others[o]->list[r]);
	}
}

const struct metric_entry *metric_entries(unsigned *count) {
	pthread_once(&once, make_entries);
	*count = entry_count;
	return entries;
}

unsigned metrics_count(void) {
	unsigned count;

	metric_entries(&count);
	return count;
}

const struct metric *metrics_at(unsigned index) {
	unsigned count;

	return &metric_entries(&count)[index].m;
}

const struct metric *metrics_of_counter(enum counter counter, enum direction direction) {
	unsigned count;

	metric_entries(&count);
	for (unsigned d = 0; d < DIRECTIONS; d++) {
		if (directions[d].direction == direction)
			return metric_of_counter[d][counter];
	}
	return NULL;
}

const char *metric_type_name(enum metric_type type) {
	static const char *const type_names[] = {
		[METRIC_COUNTER] = "counter",
		[METRIC_GAUGE] = "gauge",
		[METRIC_HISTOGRAM] = "histogram",
	};

	return type_names[type];
}
