/* SPDX-License-Identifier: BSD-3-Clause */
/* Drop reasons and counters: one set a worker, added up by whoever reads them. */
#pragma once

#include <stdint.h>

#include <rte_mbuf.h>

enum drop_reason {
#define DROP(id, name, meaning) DROP_##id,
#include "pipeline/drop.def"
#undef DROP
	DROP_REASONS,
};

enum counter {
#define COUNTER(id, name, meaning) COUNTER_##id,
#include "pipeline/counter.def"
#undef COUNTER
	COUNTERS,
};

struct counters {
	uint64_t drops[DROP_REASONS];
	uint64_t values[COUNTERS];
} __rte_cache_aligned;

/* Name and meaning of a reason or counter, as in the .def files. Never NULL within the enum. */
const char *drop_name(enum drop_reason reason);
const char *drop_meaning(enum drop_reason reason);
const char *counter_name(enum counter counter);
const char *counter_meaning(enum counter counter);

/* Adds `from` to `into`. */
void counters_add(struct counters *into, const struct counters *from);

/* All drops together, packets. */
uint64_t counters_dropped(const struct counters *c);

static inline void count(struct counters *c, enum counter which, uint64_t n) {
	c->values[which] += n;
}

/* Ends the packet for a named reason. The only way in which a stage may free a packet. */
static inline void drop(struct counters *c, struct rte_mbuf *m, enum drop_reason reason) {
	c->drops[reason]++;
	rte_pktmbuf_free(m);
}
