/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage `defragment`: fragments of pre-3.0 modems, until all of a frame are there. */
#pragma once

#include "upstream/extract_joined.h"
#include "upstream/shared.h"

struct us_defragment {
	const struct us_resources *r;
	struct counters *counters;
	struct us_tables *tables;
	struct holds *holds;
	struct us_extract_joined *joined;
	uint32_t waiting_fragments; /* held; they are with their flows, in tables.h */
};

uint16_t us_defragment(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_defragment_held(const void *ctx, enum unit unit);
void us_defragment_stop(void *ctx);

/* Ends a wait of fragments (expire.c). */
void us_fragments_expire(struct us_defragment *own, struct hold *h, bool timeout);

/* Drops the fragments of a flow that goes: they count as dropped, their buffers are for the caller to free. NULL
 * where there are none. */
struct rte_mbuf *us_fragments_remove(struct us_defragment *own, struct us_fragments *f);
