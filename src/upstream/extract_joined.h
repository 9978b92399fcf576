/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage `extract_joined`: frames out of what fragments made. */
#pragma once

#include "upstream/decrypt.h"
#include "upstream/state/cut.h"
#include "upstream/stream.h"
#include "upstream/transmit.h"

struct us_extract_joined {
	struct counters *counters;
	const struct us_tables *tables;
	struct holds *holds;
	struct us_streams *streams;
	struct us_decrypt *decrypt;
	struct queue *joined;
	const struct us_transmit *transmit;
	struct us_cut cut; /* the joined fragments that are being taken apart */
	struct us_stream stream; /* and the state of that */
	uint64_t done; /* units and frames that came out of the queue and went on */
	uint32_t units; /* such as these in the queue; the rest of it are frames */
};

uint16_t us_extract_joined(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_extract_joined_held(const void *ctx, enum unit unit);
void us_extract_joined_stop(void *ctx);

/* Takes all fragments of a frame, in a chain; its meta tells the flow, and the channel where it ended. */
void us_joined_add(struct us_extract_joined *own, struct rte_mbuf *unit);

/* Whether frames must wait in the queue, so as not to overtake what was joined. */
bool us_joined_waits(const struct us_extract_joined *own);
