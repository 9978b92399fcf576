/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Generates the packets of the core network. It draws sizes and classes in exact shares, uses targets in
 * round robin, copies headers from templates and payload from the pattern. Or it replays a capture in
 * order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "core/mix.h"
#include "core/packet.h"
#include "core/replayed.h"
#include "core/targets.h"
#include "proof/expected_rewrite.h"
#include "random/deck.h"

#define GENERATOR_BURST 32

struct generator_options {
	const struct mix *mix;
	uint32_t permit_permille; /* share of packets that a filter rule permits */
	uint32_t classify_permille; /* share of packets that meet a classifier */
	uint64_t seed;
	/* NULL: packets of the mix; otherwise replays these packets */
	const struct replayed *replay;
	uint32_t flows; /* at most FLOWS_MAX; 0: one per target */
	struct rte_mempool *pool; /* data room of each mbuf: at least the largest size */
	/* capacity of stream numbers for a service group that changes; 0: no changes */
	uint32_t streams;
};

/* A generation: the targets between two changes of the service group. The change that replaced it owns it. */
struct generator_past {
	struct targets targets;
	struct rewrites rewrites;
	uint32_t magic; /* of its packets */
	bool idle; /* some size of the mix has no flow: sends nothing */
	const struct generator_past *older; /* the generation before it, or NULL */
};

struct generator {
	struct targets targets; /* for a capture: only the streams */
	struct rewrites rewrites; /* of all generations whose packets may be under way */
	/* earlier generations whose packets may be under way, or NULL */
	const struct generator_past *past;
	bool idle; /* some size of the mix has no flow: sends nothing */
	/* By stream: number of the change that last changed its modem; 0: never. NULL: no changes. */
	uint32_t *changed;
	struct pattern pattern;
	struct mix mix;
	struct deck sizes;
	struct deck classes;
	struct random random;
	struct rte_mempool *pool;
	const struct replayed *replay; /* or NULL */
	uint32_t next; /* index of the capture's next packet */
	uint32_t magic; /* of packets sent now; increased by 1 at each restart and change */
	uint32_t first_magic; /* the initial value of `magic` */
	uint32_t *sent; /* by stream: packets made, and the next sequence number */
	uint64_t packets; /* all counts are of packets made and not taken back */
	uint64_t bytes;
	uint64_t by_class[CLASS_COUNT];
	uint64_t no_buffers; /* packets not made because no mbuf was free */
};

/* Reads `sg` and the mix during the call; `replay` and `pool` must outlive the generator. Returns NULL after a message
 * on stderr if some size of the mix has no flow, the rules allow fewer flows than requested, or memory is short. The
 * caller frees it with generator_free(), which accepts NULL. */
struct generator *generator_create(const struct service_group *sg,
				   const struct generator_options *options);

/* Whether the requested number of flows exists. Prints a message on stderr if not. */
bool generator_flows_check(const struct service_group *sg, const struct generator_options *options);

void generator_free(struct generator *g);

/*
 * Restarts with another mix: all counts and sequence numbers are 0, and the magic changes, so that earlier
 * packets can be recognized. Not for captures. Returns 0, or -1 after a message on stderr with nothing changed: some
 * size of the mix has no flow, or memory is short.
 */
int generator_restart(struct generator *g, const struct mix *mix);

/*
 * Builds the targets of the changed service group `sg`. Any thread may call it while the generator makes
 * packets, as it only reads the current targets. Not for captures. Returns 0, or -1 after a message
 * if memory is short. Sets `next->idle` if some size of the mix has no flow. The caller frees the targets and rewrites
 * in `next` in either case.
 */
int generator_prepare(const struct generator *g, const struct service_group *sg,
		      const struct targets_follow *follow, struct generator_past *next);

/* Sends packets of the generation `next` from now on. `next` then holds the previous generation,
 * which is looked up until the caller removes it from the list `past`. */
void generator_apply(struct generator *g, struct generator_past *next);

/* The targets of packets with this magic; NULL if there are none. */
const struct targets *generator_targets(const struct generator *g, uint32_t magic);

/* Whether a change has changed the modem of `stream` since packets with this magic were made. */
static inline bool generator_has_changed(const struct generator *g, uint32_t stream,
					 uint32_t magic) {
	return g->changed != NULL && magic - g->first_magic < g->changed[stream];
}

/* Whether a frame of `size` bytes without CRC has the tag of a packet that this generator made
 * since the last restart. */
bool generator_has_made(const struct generator *g, const uint8_t *frame, size_t size);

/* Whether the frame has the tag of a packet made before the last restart, or in a generation that is not
 * kept any more. */
bool generator_is_earlier(const struct generator *g, const uint8_t *frame, size_t size);

/* Makes up to `n` (at most GENERATOR_BURST) packets with time stamp `tsc`. Returns `n`, or
 * 0 if the generator is idle or has not so many free mbufs. Sets `bytes` to the sum of their sizes. */
unsigned generator_burst(struct generator *g, uint64_t tsc, struct rte_mbuf **packets, unsigned n,
			 uint64_t *bytes);

/* Takes back the last `n` packets made, in order, because they were not sent. Frees them and reuses
 * their sequence numbers. */
void generator_unsend(struct generator *g, struct rte_mbuf **packets, unsigned n);
