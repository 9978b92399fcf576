/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage `extract`: frames out of segments. */
#pragma once

#include "upstream/state/cursor.h"
#include "upstream/stream.h"
#include "upstream/transmit.h"

struct us_extract {
	struct counters *counters;
	const struct us_tables *tables;
	struct us_streams *streams;
	struct queue *segments;
	const struct queue *joined;
	const struct us_transmit *transmit;
	struct us_cursor cursor; /* in the segment in progress */
	bool paused; /* during a change of the crypto provider */
};

uint16_t us_extract(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_extract_pending(const void *ctx, enum unit unit);
void us_extract_stop(void *ctx);
