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
	uint16_t vlan; /* whose tag they get; 0: none */
	struct rte_mbuf *line[US_TRANSMIT_CAPACITY]; /* what the port has not taken yet, a circle */
	uint32_t first, count;
	uint32_t most; /* with those in the crypto provider, from where on no frame is begun */
};

uint16_t us_transmit(void *ctx, struct rte_mbuf **pkts, uint16_t n);
uint64_t us_transmit_held(const void *ctx, enum unit unit);
void us_transmit_stop(void *ctx);

/* Whether a frame may be begun behind those on their way and `more`. */
static inline bool us_transmit_has_room(const struct us_transmit *t, uint32_t more) {
	return t->count + t->r->crypto->held + more < t->most;
}
