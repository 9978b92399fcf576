/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Makes the packets that the core network sends: sizes and classes drawn in exact shares, targets in
 * turn, headers copied from templates, payload from the pattern. Or those of a capture, in turn.
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
#include "random/deck.h"

#define GENERATOR_BURST 32

struct generator_options {
	const struct mix *mix;
	uint32_t permit_permille; /* share of packets that a filter rule permits */
	uint32_t classify_permille; /* share of packets that meet a classifier */
	uint64_t seed;
	const struct replayed *replay; /* its packets, and no mix; or NULL */
	uint32_t flows; /* at most FLOWS_MAX; 0: one a target */
	struct rte_mempool *pool; /* mbufs with room for the largest size */
	uint32_t streams; /* room for as many, as the service group may change; 0: it does not */
};

/* The targets of before or after a change of the service group. */
struct generator_past {
	struct targets targets;
	uint32_t magic; /* of their packets */
	bool idle; /* no packet reaches a modem */
	const struct generator_past *older; /* or NULL */
};

struct generator {
	struct targets targets; /* of a capture the streams only */
	const struct generator_past *past; /* those of packets that may be under way; or NULL */
	bool idle; /* there is none for some size: nothing is made */
	/* By stream: after how many changes its modem differed last; 0: as it was. NULL: nothing changes. */
	uint32_t *changed;
	struct pattern pattern;
	struct mix mix;
	struct deck sizes;
	struct deck classes;
	struct random random;
	struct rte_mempool *pool;
	const struct replayed *replay; /* or NULL */
	uint32_t next; /* packet of the capture */
	uint32_t magic; /* of what is sent now: one more with every restart and change */
	uint32_t first_magic;
	uint32_t *sent; /* by stream: packets made, and the next sequence number */
	uint64_t packets; /* all counts are of packets made and not taken back */
	uint64_t bytes;
	uint64_t by_class[CLASS_COUNT];
	uint64_t no_buffers; /* packets not made as no mbuf was free */
};

/*
 * Returns NULL after a message on stderr: no packet can reach a modem, or memory is short. To be
 * freed by generator_free().
 */
struct generator *generator_create(const struct service_group *sg,
				   const struct generator_options *options);

/* Whether there can be so many flows as the options ask for; if not, after a message on stderr. */
bool generator_flows_check(const struct service_group *sg, const struct generator_options *options);

void generator_free(struct generator *g);

/*
 * Begins anew with another mix: all counts and sequence numbers are 0, and packets of before are told
 * from those that follow. Returns 0, or -1 after a message on stderr with nothing changed.
 */
int generator_restart(struct generator *g, const struct mix *mix);

/*
 * The targets of `sg`, which was changed: to be made on any thread, while the generator makes packets, as
 * its current targets are only read. Not of a capture. Returns 0, or -1 after a message.
 */
int generator_prepare(const struct generator *g, const struct service_group *sg,
		      const struct targets_follow *follow, struct generator_past *next);

/* Packets are made for `next` from now on. That then has what was there before, whose packets are known
 * until it is taken out of the list that begins with `past`. */
void generator_take(struct generator *g, struct generator_past *next);

/* The targets of packets with this magic; NULL where there are none. */
const struct targets *generator_targets(const struct generator *g, uint32_t magic);

/* Whether the modem of a stream was changed after packets with this magic were made. */
static inline bool generator_has_changed(const struct generator *g, uint32_t stream,
					 uint32_t magic) {
	return g->changed != NULL && magic - g->first_magic < g->changed[stream];
}

/* Whether a frame of `size` bytes without CRC has the tag of a packet of this generator, since the last
 * restart. */
bool generator_has_made(const struct generator *g, const uint8_t *frame, size_t size);

/* Whether it is a packet of before the last restart. */
bool generator_is_earlier(const struct generator *g, const uint8_t *frame, size_t size);

/*
 * Makes up to `n` (at most GENERATOR_BURST) packets with time stamp `tsc`. Returns how many; fewer
 * when no mbuf is free. `bytes` gets the sum of their sizes.
 */
unsigned generator_burst(struct generator *g, uint64_t tsc, struct rte_mbuf **packets, unsigned n,
			 uint64_t *bytes);

/*
 * Takes back the last `n` packets made, which were not sent, in their order. Frees them, and their
 * sequence numbers are given to others.
 */
void generator_take_back(struct generator *g, struct rte_mbuf **packets, unsigned n);
