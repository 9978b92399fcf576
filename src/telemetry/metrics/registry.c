/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows: names of counters are put together once, when somebody asks for the first time. */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "telemetry/metrics/walk.h"
#include "telemetry/metrics/which.h"

#define NAME_SIZE 96

#define PLAIN ROW_PLAIN
#define OF_GROUP ROW_OF_GROUP
#define OF_MODEM ROW_OF_MODEM
#define OF_FLOW ROW_OF_FLOW
#define COUNTER METRIC_COUNTER
#define GAUGE METRIC_GAUGE
#define HISTOGRAM METRIC_HISTOGRAM
#undef LABELS
#define LABELS(...) {__VA_ARGS__}
#define METRIC(name, type, unit, wanted, labels, collector, which, help) \
	{{name, type, unit, labels, help}, collector, which, wanted},

static const struct metric_row own_rows[] = {
#include "telemetry/metrics/metrics.def"
};
#undef COUNTER

#define DIRECTIONS 3
#define OWN (sizeof(own_rows) / sizeof(own_rows[0]))
#define MOST (OWN + DIRECTIONS * COUNTERS)

/* What a direction is called, and how its counters are labelled and collected. */
static const struct {
	enum direction direction;
	const char *prefix;
	size_t skip; /* characters of the counter's name that the prefix has */
	const char *labels[METRIC_LABELS];
	void (*collect)(const struct walk *w, const struct metric_row *row);
	int wanted;
} directions[DIRECTIONS] = {
	{DIRECTION_DOWN, "vcmts_downstream_", 0, {"service_group"}, collect_down_counter, OF_GROUP},
	{DIRECTION_UP, "vcmts_upstream_", 0, {"service_group"}, collect_up_counter, OF_GROUP},
	{DIRECTION_PORT, "vcmts_port_", sizeof("port_") - 1, {"port"}, collect_port_counter, PLAIN},
};

static struct metric_row rows[MOST];
static unsigned row_count;
static char names[DIRECTIONS][COUNTERS][NAME_SIZE];
static const struct metric *of_counter[DIRECTIONS][COUNTERS];
static pthread_once_t once = PTHREAD_ONCE_INIT;

static bool ends_in(const char *name, const char *unit) {
	size_t size = strlen(name), tail = strlen(unit);

	return size >= tail && strcmp(name + size - tail, unit) == 0 &&
	       (size == tail || name[size - tail - 1] == '_');
}

static void name_counter(char name[NAME_SIZE], const char *prefix, const char *counter,
			 const char *unit) {
	bool says = *unit == '\0' || ends_in(counter, unit);

	snprintf(name, NAME_SIZE, "%s%s%s%s_total", prefix, counter, says ? "" : "_",
		 says ? "" : unit);
}

static void add_counter(unsigned d, enum counter counter) {
	struct metric_row *row = &rows[row_count++];
	const char *unit = counted_name(counter_counts(counter));

	name_counter(names[d][counter], directions[d].prefix,
		     counter_name(counter) + directions[d].skip, unit);
	*row = (struct metric_row){
		.m = {.name = names[d][counter],
		      .type = METRIC_COUNTER,
		      .unit = unit,
		      .help = counter_meaning(counter)},
		.collect = directions[d].collect,
		.which = counter,
		.wanted = directions[d].wanted,
	};
	memcpy(row->m.labels, directions[d].labels, sizeof(row->m.labels));
	of_counter[d][counter] = &row->m;
}

static void make_rows(void) {
	for (unsigned d = 0; d < DIRECTIONS; d++) {
		for (enum counter c = 0; c < COUNTERS; c++) {
			if (counter_in(c, directions[d].direction))
				add_counter(d, c);
		}
	}
	memcpy(&rows[row_count], own_rows, sizeof(own_rows));
	row_count += OWN;
}

const struct metric_row *metric_rows(unsigned *count) {
	pthread_once(&once, make_rows);
	*count = row_count;
	return rows;
}

unsigned metrics_count(void) {
	unsigned count;

	metric_rows(&count);
	return count;
}

const struct metric *metrics_at(unsigned index) {
	unsigned count;

	return &metric_rows(&count)[index].m;
}

const struct metric *metrics_of_counter(enum counter counter, enum direction direction) {
	unsigned count;

	metric_rows(&count);
	for (unsigned d = 0; d < DIRECTIONS; d++) {
		if (directions[d].direction == direction)
			return of_counter[d][counter];
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
