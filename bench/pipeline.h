/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Runs a direction in isolation: traffic and pipeline in one process and thread, connected by net_ring.
 *
 * The traffic generates a batch. The pipeline processes it in full bursts, while the simulated time
 * advances as if the batch arrived at a set rate. The traffic receives and proves the output. Only the
 * pipeline is timed.
 */
#pragma once

#include <stdint.h>

#include "directions/traffic.h"
#include "footprint.h"
#include "pair.h"
#include "server/server.h"

/* Packets generated, processed and proven together; approximate in the upstream. */
#define BENCH_BATCH 1024

#define BENCH_MAX_LISTS (DS_PIPELINES > US_PIPELINES ? DS_PIPELINES : US_PIPELINES)

struct bench {
	struct single_group lone;
	struct server server;
	struct crypto_provider *crypto; /* of the modems */
	uint16_t network[2]; /* ports of the pipeline and of the traffic */
	uint16_t rphy[2];
	uint64_t now; /* ns, the pipeline's time */
	unsigned threads; /* in the downstream: 1, or 2 with `pair` */
	uint32_t flows; /* as in struct traffic_options */
	double begin; /* earliest start of a run by monotonic_seconds() */
	struct pair pair;
	struct footprint footprint;
};

struct bench_direction;

/* One run with one mix. */
struct bench_run {
	uint64_t packets; /* processed */
	uint64_t bytes; /* of these packets, without CRC */
	double cycles; /* reference cycles per packet, all stages, with accounting */
	double stages[BENCH_MAX_LISTS][PIPELINE_MAX_STAGES];
	double plain_cycles; /* per packet, without accounting */
	/* added by the measurement of latencies, per packet, without accounting */
	double latency_cycles;
	double bound; /* crypto alone, per packet; negative: not measured */
	double begin, end; /* monotonic_seconds() of the batches */
	bool proven; /* every packet was proven */
};

/*
 * Creates ports, server and the modems' crypto provider in the zeroed `b`, and its footprint except for the
 * loading. With two threads, the second one is that of pair.h. Returns 0, or -1 after a message.
 */
int bench_create(struct bench *b, const struct service_group *sg, unsigned threads);

void bench_free(struct bench *b);

/* The only service group. */
static inline struct served_group *bench_group(const struct bench *b) {
	return &b->server.groups[0];
}

/* The configured group, without the free slots of the serving one. */
static inline const struct service_group *bench_config(const struct bench *b) {
	return &b->lone.group;
}

/* Runs `mix` for about `milliseconds`, pipeline and traffic together, and measures `bound` alone
 * afterwards. Returns 0, or -1 after a message. */
int bench_run(struct bench *b, const struct bench_direction *d, const struct mix *mix,
	      unsigned milliseconds, uint64_t seed, struct bench_run *out);
