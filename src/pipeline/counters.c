/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline/counters.h"

static const struct {
	const char *name;
	const char *meaning;
	enum direction directions;
	enum unit unit;
} drops[] = {
#define DROP(id, name, directions, unit, meaning) \
	{name, meaning, DIRECTION_##directions, UNIT_##unit},
#include "pipeline/downstream.def"
#define DROP(id, name, directions, unit, meaning) \
	{name, meaning, DIRECTION_##directions, UNIT_##unit},
#include "pipeline/upstream.def"
#define DROP(id, name, directions, unit, meaning) \
	{name, meaning, DIRECTION_##directions, UNIT_##unit},
#include "pipeline/sharing.def"
};

/* The directions of a counter, and its metric in each. */
#define IN_DOWN(metric) DIRECTION_DOWN, metric, NULL
#define IN_UP(metric) DIRECTION_UP, NULL, metric
#define IN_BOTH(down, up) DIRECTION_BOTH, down, up
#define IN_PORT(metric) DIRECTION_PORT, metric, NULL

static const struct {
	const char *name;
	const char *meaning;
	enum counted counts;
	enum direction directions;
	const char *metric, *upstream_metric;
} counters[] = {
#define COUNTER(id, name, metrics, unit, meaning) {name, meaning, COUNTS_##unit, IN_##metrics},
#include "pipeline/downstream.def"
#define COUNTER(id, name, metrics, unit, meaning) {name, meaning, COUNTS_##unit, IN_##metrics},
#include "pipeline/upstream.def"
#define COUNTER(id, name, metrics, unit, meaning) {name, meaning, COUNTS_##unit, IN_##metrics},
#include "pipeline/sharing.def"
};

const char *drop_name(enum drop_reason reason) {
	return drops[reason].name;
}

const char *drop_meaning(enum drop_reason reason) {
	return drops[reason].meaning;
}

bool drop_in(enum drop_reason reason, enum direction direction) {
	return (drops[reason].directions & direction) != 0;
}

enum unit drop_unit(enum drop_reason reason) {
	return drops[reason].unit;
}

const char *counter_name(enum counter counter) {
	return counters[counter].name;
}

const char *counter_meaning(enum counter counter) {
	return counters[counter].meaning;
}

bool counter_in(enum counter counter, enum direction direction) {
	return (counters[counter].directions & direction) != 0;
}

const char *counter_metric(enum counter counter, enum direction direction) {
	if (!counter_in(counter, direction))
		return NULL;
	return direction == DIRECTION_UP ? counters[counter].upstream_metric
					 : counters[counter].metric;
}

const char *unit_name(enum unit unit) {
	static const char *const names[UNITS] = {"packets", "bursts", "segments", "frames"};

	return names[unit];
}

enum counted counter_counts(enum counter counter) {
	return counters[counter].counts;
}

const char *counted_name(enum counted counted) {
	static const char *const names[COUNTED] = {
		[COUNTS_NONE] = "",
		[COUNTS_PACKETS] = "packets",
		[COUNTS_BYTES] = "bytes",
		[COUNTS_FRAMES] = "frames",
		[COUNTS_SEGMENTS] = "segments",
		[COUNTS_FRAGMENTS] = "fragments",
		[COUNTS_BURSTS] = "bursts",
		[COUNTS_CODEWORDS] = "codewords",
		[COUNTS_MESSAGES] = "messages",
		[COUNTS_REQUESTS] = "requests",
	};

	return names[counted];
}

void counters_add(struct counters *into, const struct counters *from) {
	for (unsigned i = 0; i < DROP_REASONS; i++)
		into->drops[i] += from->drops[i];
	for (unsigned i = 0; i < COUNTERS; i++)
		into->values[i] += from->values[i];
}

uint64_t counters_dropped(const struct counters *c) {
	uint64_t sum = 0;

	for (unsigned i = 0; i < DROP_REASONS; i++)
		sum += c->drops[i];
	return sum;
}

uint64_t counters_dropped_units(const struct counters *c, enum unit unit) {
	uint64_t sum = 0;

	for (unsigned i = 0; i < DROP_REASONS; i++) {
		if (drops[i].unit == unit)
			sum += c->drops[i];
	}
	return sum;
}
