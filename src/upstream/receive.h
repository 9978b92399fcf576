/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage `receive`: bursts from the R-PHY port. */
#pragma once

#include "upstream/extract.h"
#include "upstream/shared.h"
#include "upstream/transmit.h"

#define US_RECEIVE_BURST 32

struct us_receive {
	const struct us_resources *r;
	struct counters *counters;
	struct poll_stats *effort;
	const struct latency *latency;
	/* backlog of the later stages */
	const struct queue *bursts, *segments;
	const struct us_extract *extract;
	const struct us_transmit *transmit;
	bool closed; /* it receives no more */
	uint32_t max_queued; /* buffers in the queues at which receiving stops */
	uint64_t empty_at; /* ns: all packets that reached the port before were received */
	/* with a ring: when the count was read, and how often the port had been found empty by
	 * then */
	uint64_t emptied_read_at;
	uint64_t emptied_read;
	/* ns: all packets received before have reached the reorder queues and reassembly */
	uint64_t flushed_until;
};

/* Whether the queues are empty: all received packets have reached the reorder queues and
 * reassembly. */
bool us_receive_flushed(const struct us_receive *stage);

uint16_t us_receive(void *ctx, struct rte_mbuf **pkts, uint16_t n);
