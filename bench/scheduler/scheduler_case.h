/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the scheduler is measured on: channels in overlapping bonding groups, and modems with eight
 * flows each. As published, these share by weight; or four of them have a priority of their own and four
 * share the lowest. DPDK's rte_sched has the second shape, as a pipe has no more than four queues that
 * share: a modem is a pipe, a flow one of its queues.
 */
#pragma once

#include <stdint.h>

#include "scheduler/scheduler.h"

#define CASE_FLOWS 8 /* of a modem */
#define CASE_STRICT 4 /* of these, by priority alone where there are priorities */
/* No flow and no modem comes near these: they cost, but do not bind. Bits per second, bytes. */
#define CASE_FLOW_RATE 50000000
#define CASE_FLOW_BURST 100000
#define CASE_MODEM_RATE (CASE_FLOWS * (uint64_t)CASE_FLOW_RATE)
#define CASE_MODEM_BURST (CASE_FLOWS * (uint64_t)CASE_FLOW_BURST)

struct bench_case {
	const char *name;
	unsigned modems;
	unsigned clusters; /* of channels; groups overlap inside a cluster */
	unsigned ofdm, sc_qam; /* channels of a cluster */
	uint64_t rate_limit; /* of the service group; 0: none */
	uint16_t queue_packets; /* a flow's queue holds so many of mean size; a power of two */
};

#define CASE_COUNT 3
extern const struct bench_case bench_cases[CASE_COUNT];

static inline unsigned case_flows(const struct bench_case *c) {
	return c->modems * CASE_FLOWS;
}

static inline unsigned case_channels(const struct bench_case *c) {
	return c->clusters * (c->ofdm + c->sc_qam);
}

unsigned case_groups(const struct bench_case *c);

/* What the channels carry together, or the limit: bits per second. */
uint64_t case_rate(const struct bench_case *c);

/* About what stands around a packet of `mean` bytes where channels are counted. */
double case_overhead(double mean);

/* Packets that one scheduler may come to hold under overload. */
unsigned case_held(const struct bench_case *c);

/* The scheduler, with queues for packets of `mean` bytes, and the first `strict` flows of a modem by
 * priority. Returns NULL after a message. */
struct scheduler *case_scheduler(const struct bench_case *c, double mean, unsigned strict);
