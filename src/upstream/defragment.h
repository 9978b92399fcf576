/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage `defragment`: joins fragments of pre-3.0 modems. */
#pragma once

#include "upstream/extract_joined.h"
#include "upstream/shared.h"

struct us_defragment {
	const struct us_resources *r;
	struct counters *counters;
	struct us_tables *tables;
	struct pending_set *pending_set;
	struct us_extract_joined *joined;
	uint32_t pending_fragments; /* pending; the flows in tables.h own them */
};

uint16_t us_defragment(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_defragment_pending(const void *ctx, enum unit unit);
void us_defragment_stop(void *ctx);

/* Drops fragments whose timer expired, or whose memory is needed (expire.c). */
void us_fragments_expire(struct us_defragment *stage, struct pending *h, bool timeout);

/* Counts the fragments of a flow that is removed as dropped. Returns them for the caller to
 * free; NULL if there are none. */
struct rte_mbuf *us_fragments_remove(struct us_defragment *stage, struct us_fragments *f);
