/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage `extract_joined`: frames out of joined fragments. */
#pragma once

#include "upstream/decrypt.h"
#include "upstream/state/cursor.h"
#include "upstream/stream.h"
#include "upstream/transmit.h"

struct us_extract_joined {
	struct counters *counters;
	const struct us_tables *tables;
	struct pending_set *pending_set;
	struct us_streams *streams;
	struct us_decrypt *decrypt;
	struct queue *joined;
	const struct us_transmit *transmit;
	struct us_cursor cursor; /* in the unit in progress */
	struct us_stream stream; /* of the unit in progress */
	uint64_t done; /* units and frames that left the queue and went on */
	uint32_t units; /* in the queue; its other mbufs are frames */
};

uint16_t us_extract_joined(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_extract_joined_pending(const void *ctx, enum unit unit);
void us_extract_joined_stop(void *ctx);

/* Takes ownership of the chain of all fragments of a frame. Its metadata has the flow, and the
 * channel of the last fragment. */
void us_joined_add(struct us_extract_joined *stage, struct rte_mbuf *unit);

/* Whether frames must go through the queue to stay in order behind joined fragments. */
bool us_joined_queued(const struct us_extract_joined *stage);
