/* SPDX-License-Identifier: BSD-3-Clause */
/* Drop reasons and counters: one set a worker, added up by whoever reads them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "pipeline/tap.h"

/* Bits: which direction counts under a name. */
enum direction {
	DIRECTION_DOWN = 1,
	DIRECTION_UP = 2,
	DIRECTION_BOTH = 3,
	DIRECTION_PORT = 4, /* of a port that service groups share: neither */
};

/* What a drop reason counts; downstream always packets (docs/upstream.md). */
enum unit {
	UNIT_PACKET,
	UNIT_BURST,
	UNIT_SEGMENT,
	UNIT_FRAME,
	UNITS,
};

/* What a counter counts, for the names of metrics. */
enum counted {
	COUNTS_NONE, /* what its name says */
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
	DROP_NONE = DROP_REASONS, /* of a check: the packet goes on */
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
	struct tap
		*tap; /* who looks at what is dropped; NULL: nobody. No part of sums, as the next */
	uint32_t stage; /* of the tap */
} __rte_cache_aligned;

/* Name and meaning of a reason or counter, as in the .def files. Never NULL within the enum. */
const char *drop_name(enum drop_reason reason);
const char *drop_meaning(enum drop_reason reason);
const char *counter_name(enum counter counter);
const char *counter_meaning(enum counter counter);

/* Whether the direction (one bit) counts under that name. */
bool drop_in(enum drop_reason reason, enum direction direction);
bool counter_in(enum counter counter, enum direction direction);

enum unit drop_unit(enum drop_reason reason);
enum counted counter_counts(enum counter counter);
const char *counter_metric(enum counter counter,
			   enum direction direction); /* NULL: not counted there */
const char *counted_name(enum counted counted); /* "packets", ..; "" of COUNTS_NONE */
const char *unit_name(enum unit unit); /* "packets", .. */

/* Adds `from` to `into`. */
void counters_add(struct counters *into, const struct counters *from);

/* All drops together; downstream these are packets. */
uint64_t counters_dropped(const struct counters *c);

/* The drops of one unit. */
uint64_t counters_dropped_units(const struct counters *c, enum unit unit);

static inline void count(struct counters *c, enum counter which, uint64_t n) {
	c->values[which] += n;
}

/* Counts the end of something for a named reason. `m` holds it, or what it is in, and is freed elsewhere. */
static inline void drop_of(struct counters *c, struct rte_mbuf *m, enum drop_reason reason) {
	c->drops[reason]++;
	tap_drop(&c->tap, m, reason);
}

/* Ends the packet for a named reason. A stage frees a packet in no other way, but where it was counted as something
 * else: parts of it go on, or it ended with several others, each by drop_of(). */
static inline void drop(struct counters *c, struct rte_mbuf *m, enum drop_reason reason) {
	drop_of(c, m, reason);
	rte_pktmbuf_free(m);
}
