/* SPDX-License-Identifier: BSD-3-Clause */
/* Drop reasons and counters: one set per worker; the reader adds them up. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "pipeline/tap.h"

/* Bits: the directions that use a name. */
enum direction {
	DIRECTION_DOWN = 1,
	DIRECTION_UP = 2,
	DIRECTION_BOTH = 3,
	DIRECTION_PORT = 4, /* of a shared port: neither */
};

/* The unit of a drop reason; downstream always packets (docs/upstream.md). */
enum unit {
	UNIT_PACKET,
	UNIT_BURST,
	UNIT_SEGMENT,
	UNIT_FRAME,
	UNITS,
};

/* The unit of a counter, for the names of metrics. */
enum counted {
	COUNTS_NONE, /* as its name says */
	COUNTS_PACKETS,
	COUNTS_BYTES,
	COUNTS_FRAMES,
	COUNTS_SEGMENTS,
	COUNTS_FRAGMENTS,
	COUNTS_BURSTS,
	COUNTS_CODEWORDS,
	COUNTS_MESSAGES,
	COUNTS_REQUESTS,
	COUNTED,
};

enum drop_reason {
#define DROP(id, name, directions, unit, meaning) DROP_##id,
#include "pipeline/downstream.def"
#define DROP(id, name, directions, unit, meaning) DROP_##id,
#include "pipeline/upstream.def"
#define DROP(id, name, directions, unit, meaning) DROP_##id,
#include "pipeline/sharing.def"
	DROP_REASONS,
	DROP_NONE = DROP_REASONS, /* result of a check: the packet goes on */
};

enum counter {
#define COUNTER(id, name, metrics, unit, meaning) COUNTER_##id,
#include "pipeline/downstream.def"
#define COUNTER(id, name, metrics, unit, meaning) COUNTER_##id,
#include "pipeline/upstream.def"
#define COUNTER(id, name, metrics, unit, meaning) COUNTER_##id,
#include "pipeline/sharing.def"
	COUNTERS,
};

struct counters {
	uint64_t drops[DROP_REASONS];
	uint64_t values[COUNTERS];
	struct tap *tap; /* captures drops; NULL: no capture. Sums do not include it, nor `stage` */
	uint32_t stage; /* the tap's number of it */
} __rte_cache_aligned;

/* Name and meaning of a reason or counter, as in the .def files. Never NULL for a valid
 * enumerator. */
const char *drop_name(enum drop_reason reason);
const char *drop_meaning(enum drop_reason reason);
const char *counter_name(enum counter counter);
const char *counter_meaning(enum counter counter);

/* Whether the direction (one bit) uses the name. */
bool drop_in(enum drop_reason reason, enum direction direction);
bool counter_in(enum counter counter, enum direction direction);

enum unit drop_unit(enum drop_reason reason);
enum counted counter_counts(enum counter counter);
const char *counter_metric(enum counter counter,
			   enum direction direction); /* NULL: not counted there */
const char *counted_name(enum counted counted); /* "packets", ..; "" for COUNTS_NONE */
const char *unit_name(enum unit unit); /* "packets", .. */

/* Adds `from` to `into`. */
void counters_add(struct counters *into, const struct counters *from);

/* All drops; downstream these are packets. */
uint64_t counters_dropped(const struct counters *c);

/* The drops of one unit. */
uint64_t counters_dropped_units(const struct counters *c, enum unit unit);

static inline void count(struct counters *c, enum counter which, uint64_t n) {
	c->values[which] += n;
}

/* Counts a drop. `m` contains the dropped unit, and the caller frees it later. */
static inline void drop_count(struct counters *c, struct rte_mbuf *m, enum drop_reason reason) {
	c->drops[reason]++;
	tap_drop(&c->tap, m, reason);
}

/* Drops a packet: counts the reason and frees it. A stage frees a packet in no other way, except
 * after drop_count(): parts of it go on, or several units end with it. */
static inline void drop(struct counters *c, struct rte_mbuf *m, enum drop_reason reason) {
	drop_count(c, m, reason);
	rte_pktmbuf_free(m);
}
