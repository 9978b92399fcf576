/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage `reassemble`: SID to service flow, segments in order. */
#pragma once

#include "upstream/grant.h"
#include "upstream/reorder.h"
#include "upstream/requests.h"
#include "upstream/shared.h"

struct us_reassemble {
	struct counters *counters;
	struct us_tables *tables;
	struct us_reorder_set *reorder_set;
	struct us_requests *requests;
	struct us_grant *grant;
	struct pipeline *list;
	struct poll_stats *effort;
	uint32_t pending_segments; /* pending; the streams in tables.h own them */
};

uint16_t us_reassemble(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_reassemble_pending(const void *ctx, enum unit unit);
void us_reassemble_stop(void *ctx);

/* Ends the wait of early segments (expire.c). */
void us_segments_expire(struct us_reassemble *stage, struct pending *h);

/* Drops the pending segments of a stream that is removed, within the budget (ns). Returns
 * whether none is left. */
bool us_segments_remove(struct us_reassemble *stage, struct us_stream *s, int *budget);
