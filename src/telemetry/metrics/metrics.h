/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry of a server's metrics: name, type, unit, labels and help of each, and a walk over all samples.
 * A sink formats them, as text for scrapers or as JSON.
 *
 * The entries stand beside their collectors (collect_*.c); each COUNTER of pipeline/ *.def has one per
 * direction. The walk reads values of workers by plain loads. It holds the server's lock for reading, which
 * no worker takes, for one metric or modem at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/counters.h"
#include "power/live/power.h"
#include "server/server.h"

#define METRIC_LABELS 4 /* per metric, at most */
#define METRIC_BUCKETS 21 /* per histogram, at most, without +Inf */

enum metric_type {
	METRIC_COUNTER, /* its name ends in _total */
	METRIC_GAUGE,
	METRIC_HISTOGRAM, /* of seconds */
};

struct metric {
	const char *name;
	enum metric_type type;
	const char *unit; /* suffix of the name before _total; "": none */
	const char *labels[METRIC_LABELS]; /* terminated by NULL if fewer */
	const char *help;
};

/* The metrics in walk order; metrics on request are last. They live as long as the program. */
unsigned metrics_count(void);
const struct metric *metrics_at(unsigned index);

/* The metric of a counter in a direction (one bit) that counts it. */
const struct metric *metrics_of_counter(enum counter counter, enum direction direction);

/* "counter", "gauge", "histogram" */
const char *metric_type_name(enum metric_type type);

/* Bounds are in ns. `below` has the number of values below each bound, `count` that of all
 * values. */
struct metric_histogram {
	unsigned buckets;
	uint64_t bounds[METRIC_BUCKETS];
	uint64_t below[METRIC_BUCKETS];
	uint64_t count;
	uint64_t sum_ns;
};

/* A sample. Its pointers are valid during the call. */
struct metric_sample {
	const char *labels[METRIC_LABELS]; /* values, in the order of the metric's labels */
	const struct metric_histogram *histogram; /* NULL unless the metric is a histogram */
	bool real; /* `number` is valid; otherwise `integer` */
	uint64_t integer;
	double number; /* finite */
};

/* Statistics of the metrics endpoint. */
#define METRICS_HTTP_CODES 8
struct metrics_http_counts {
	uint64_t answers[METRICS_HTTP_CODES]; /* by status code, see metrics_http_codes */
	uint64_t pages; /* generated pages */
	uint64_t page_ns; /* time to generate them */
	uint64_t page_bytes; /* of the last page */
	uint64_t aborted[3]; /* aborted connections by reason, see metrics_http_ends */
	uint64_t connections; /* open connections */
	/* Its thread stores both by atomic stores; a pointer stays valid while the endpoint exists. */
	const char *url;
	int fault; /* errno: why it cannot listen yet; 0: it listens */
};
extern const uint16_t metrics_http_codes[METRICS_HTTP_CODES];
extern const char *const metrics_http_ends[3];

/* The sources of all values. */
struct metrics_source {
	struct server *server;
	struct power *power; /* core frequencies; NULL in a replay */
	const char *version;
	/* seconds since 1970; metrics_source_start() sets this and the next one */
	double start_time;
	double started; /* seconds of the monotonic clock; 0 in a replay, whose uptime stays 0 */
	const struct metrics_http_counts *http; /* NULL: no endpoint */
};

/* Sets the start time to now. */
void metrics_source_start(struct metrics_source *source);

/* Seconds since metrics_source_start(); 0 if it was never called. */
double metrics_uptime(const struct metrics_source *source);

/* Selects metrics. Zeroed: all except those of single modems and service flows. */
struct metrics_selection {
	const char *const *names; /* prefixes of metric names; NULL: all */
	unsigned name_count;
	/* ID of a service group, which excludes metrics without a group; 0: all */
	uint32_t group;
	const uint8_t *modem; /* MAC address: includes metrics of this modem */
	bool modems; /* includes all modems, of all groups if `group` is 0 */
	/* includes the service flows of these modems; without `modem` or `modems`, of all modems */
	bool flows;
};

enum metrics_skip {
	METRICS_VISIT,
	METRICS_SKIP,
	METRICS_SKIP_REST, /* skips also all later samples of this metric */
};

struct metrics_sink {
	/* Called before the samples of a metric, which may have none. May be NULL. */
	void (*begin)(void *arg, const struct metric *m);
	void (*sample)(void *arg, const struct metric *m, const struct metric_sample *s);
	void *arg;
	/* Whether to visit the samples of the metric at `index` of metrics_at(). NULL: all. */
	bool (*visit)(void *arg, unsigned index);
	/* Decides about the next `count` samples of the metric, all of one modem. Skipped samples are not
	 * read. NULL: all are visited. */
	enum metrics_skip (*skip)(void *arg, size_t count);
};

/*
 * Visits all selected samples, metric by metric, under the server's lock. Writers can take the lock between
 * metrics and between modems; groups and modems that they remove are not visited any more. Each number is
 * read atomically; all counters of a group are read at one time. Returns false without memory; then nothing
 * was visited.
 */
bool metrics_walk(const struct metrics_source *source, const struct metrics_selection *selection,
		  const struct metrics_sink *sink);
