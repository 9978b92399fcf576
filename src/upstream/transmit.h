/* SPDX-License-Identifier: BSD-3-Clause */
/* The stage `transmit`: bursts to the network port. */
#pragma once

#include "upstream/frame_buffers.h"
#include "upstream/shared.h"

#define US_TRANSMIT_CAPACITY 1024

struct us_transmit {
	const struct us_resources *r;
	struct counters *counters;
	struct us_frame_buffers *buffers;
	struct latency *latency;
	uint16_t vlan; /* ID of the tag; 0: none */
	/* a ring of frames that the port has not accepted yet */
	struct rte_mbuf *line[US_TRANSMIT_CAPACITY];
	uint32_t first, count;
	/* frames here and in the crypto provider, at which `extract` begins no new frame */
	uint32_t max;
};

uint16_t us_transmit(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_transmit_pending(const void *ctx, enum unit unit);
void us_transmit_stop(void *ctx);

/* Whether a new frame fits behind the queued ones and `more`. */
static inline bool us_transmit_fits(const struct us_transmit *t, uint32_t more) {
	return t->count + t->r->crypto->pending + more < t->max;
}
