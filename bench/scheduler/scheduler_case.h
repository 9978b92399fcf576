/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Configurations for the measurement of schedulers: channels in overlapping bonding groups, and modems with
 * eight flows each. The flows of a modem have one of two settings. In the published one, they share by weight.
 * In the other, four flows have a priority of their own and four share the lowest one. DPDK's rte_sched has
 * only the second, as a pipe has at most four queues that share: a modem is a pipe, a flow one of its queues.
 */
#pragma once

#include <stdint.h>

#include "scheduler/scheduler.h"

#define CASE_FLOWS 8 /* per modem */
#define CASE_STRICT 4 /* of these, flows with a priority of their own in the second setting */
/* Rates that no flow and no modem reaches: the scheduler checks them, but they never limit. Bits
 * per second, bytes. */
#define CASE_FLOW_RATE 50000000
#define CASE_FLOW_BURST 100000
#define CASE_MODEM_RATE (CASE_FLOWS * (uint64_t)CASE_FLOW_RATE)
#define CASE_MODEM_BURST (CASE_FLOWS * (uint64_t)CASE_FLOW_BURST)

struct bench_case {
	const char *name;
	unsigned modems;
	unsigned clusters; /* of channels; groups overlap inside a cluster */
	unsigned ofdm, sc_qam; /* channels per cluster */
	uint64_t rate_limit; /* of the service group; 0: none */
	/* capacity of a flow's queue in packets of mean size; a power of two */
	uint16_t queue_packets;
};

#define CASE_COUNT 3
extern const struct bench_case bench_cases[CASE_COUNT];

static inline unsigned case_flows(const struct bench_case *c) {
	return c->modems * CASE_FLOWS;
}

static inline unsigned case_channels(const struct bench_case *c) {
	return c->clusters * (c->ofdm + c->sc_qam);
}

/* Number of bonding groups. */
unsigned case_groups(const struct bench_case *c);

/* Sum of the channels' rates, or the limit: bits per second. */
uint64_t case_rate(const struct bench_case *c);

/* Approximate overhead in bytes of a packet of `mean` bytes on a channel. */
double case_overhead(double mean);

/* Maximum packets in one scheduler under overload. */
unsigned case_packets(const struct bench_case *c);

/* Creates the scheduler, with queues for packets of `mean` bytes, and priorities for the first
 * `strict` flows of a modem. Returns NULL after a message. */
struct scheduler *case_scheduler(const struct bench_case *c, double mean, unsigned strict);
