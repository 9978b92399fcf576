/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry of what can be told of a server in service: name, type, unit, labels and help of each metric, and
 * one walk that visits all samples. Whoever writes them down (text for scrapers, JSON) does so by a sink.
 *
 * The rows stand behind their collectors (collect_*.c), and there is one for each COUNTER of pipeline/ *.def and direction. Values are read
 * by plain loads of what workers write: a walk takes the server's lock for reading, which no worker takes, a metric or a modem
 * at a time.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pipeline/counters.h"
#include "power/live/power.h"
#include "server/server.h"

#define METRIC_LABELS 4 /* of one metric, at most */
#define METRIC_BUCKETS 16 /* of a histogram, at most, without that of +Inf */

enum metric_type {
	METRIC_COUNTER, /* its name ends in _total */
	METRIC_GAUGE,
	METRIC_HISTOGRAM, /* of seconds */
};

struct metric {
	const char *name;
	enum metric_type type;
	const char *unit; /* behind which the name ends, but for _total; "": none is named */
	const char *labels[METRIC_LABELS]; /* NULL behind the last */
	const char *help;
};

/* The rows, in the order of a walk; what is asked for by name only comes last. They live as long as the program. */
unsigned metrics_count(void);
const struct metric *metrics_at(unsigned index);

/* The row of a counter in a direction (one bit) in which it is counted. */
const struct metric *metrics_of_counter(enum counter counter, enum direction direction);

/* "counter", "gauge", "histogram" */
const char *metric_type_name(enum metric_type type);

/* Bounds are in nanoseconds, `below` are the values that are less than each, and `count` are all. */
struct metric_histogram {
	unsigned buckets;
	uint64_t bounds[METRIC_BUCKETS];
	uint64_t below[METRIC_BUCKETS];
	uint64_t count;
	uint64_t sum_ns;
};

/* One sample. What it points to lasts as long as the call. */
struct metric_sample {
	const char *labels[METRIC_LABELS]; /* values, in the order of the metric's labels */
	const struct metric_histogram *histogram; /* of a histogram, else NULL */
	bool real; /* which of these holds: */
	uint64_t integer;
	double number; /* finite */
};

/* What the endpoint for scrapers tells of itself. */
#define METRICS_HTTP_CODES 8
struct metrics_http_counts {
	uint64_t answers[METRICS_HTTP_CODES]; /* by code, see metrics_http_codes */
	uint64_t pages; /* that were made */
	uint64_t page_ns; /* what making them took */
	uint64_t page_bytes; /* of the one that was made last */
	uint64_t cut_off[3]; /* connections, by reason, see metrics_http_ends */
	uint64_t connections; /* open */
};
extern const uint16_t metrics_http_codes[METRICS_HTTP_CODES];
extern const char *const metrics_http_ends[3];

/* Where values come from. */
struct metrics_source {
	struct server *server;
	struct power *power; /* of the cores' frequencies; NULL: a replay has none */
	const char *version;
	double start_time; /* seconds since 1970; as the next set by metrics_source_start() */
	double started; /* seconds of the clock by which uptime counts; 0: of a replay, where it stands still */
	const struct metrics_http_counts *http; /* NULL: there is none */
};

/* It was started just now. */
void metrics_source_start(struct metrics_source *source);

/* Seconds since then; where that was never said, of the workers' clock. */
double metrics_uptime(const struct metrics_source *source);

/* What of it is wanted. Zeroed: all but that of single modems and service flows. */
struct metrics_selection {
	const char *const *names; /* metrics whose names begin so; NULL: all */
	unsigned name_count;
	uint32_t group; /* ID of a service group; 0: all. What is of none then is left out */
	const uint8_t *modem; /* MAC address: what is of this modem, too */
	bool modems; /* of all modems; of all groups where none is named */
	bool flows; /* of the service flows of these modems, or of all */
};

enum metrics_skip {
	METRICS_VISIT,
	METRICS_SKIP,
	METRICS_SKIP_REST, /* and all behind them of this metric */
};

struct metrics_sink {
	/* Before the samples of a metric, of which there may be none. NULL: not wanted. */
	void (*begin)(void *arg, const struct metric *m);
	void (*sample)(void *arg, const struct metric *m, const struct metric_sample *s);
	void *arg;
	/* Whether the samples of a metric, by its index in metrics_at(), are to be visited. NULL: those of all. */
	bool (*visit)(void *arg, unsigned index);
	/* What is to be done with the next `count` samples of the metric, which are of one modem. What is skipped is not
	 * read. NULL: all are visited. */
	enum metrics_skip (*skip)(void *arg, size_t count);
};

/*
 * Visits all samples that are wanted, those of a metric one behind the other, under the lock of the server, which writers
 * get between metrics and between modems. Groups and modems that were removed meanwhile are not visited any more. Numbers
 * are whole each, and those of the counters of a group are read at one time. Returns false where memory is short: then
 * nothing was visited.
 */
bool metrics_walk(const struct metrics_source *source, const struct metrics_selection *selection,
		  const struct metrics_sink *sink);
