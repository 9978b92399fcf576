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
	struct effort *effort;
	const struct latency *latency;
	/* how far the stages behind are */
	const struct queue *bursts, *segments;
	const struct us_extract *extract;
	const struct us_transmit *transmit;
	bool closed; /* nothing more is received */
	uint32_t most_queued; /* buffers in the queues, from where on nothing is received */
	uint64_t empty_at; /* ns: what had come to the port by then was received */
	/* of a ring: when it was asked, and how often the port behind it had been found empty by then */
	uint64_t asked_at;
	uint64_t asked;
	uint64_t passed_until; /* ns: what came before has come as far as what waits for it */
};

uint16_t us_receive(void *ctx, struct rte_mbuf **pkts, uint16_t n);
