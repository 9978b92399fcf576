/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A direction in a box: traffic and pipeline in one process and thread, joined by net_ring.
 *
 * Traffic makes a batch; the pipeline carries it in full bursts while time goes on as if the batch
 * came at a set rate; traffic takes back what comes out and proves it. What is timed is the pipeline
 * alone.
 */
#pragma once

#include <stdint.h>

#include "directions/traffic.h"
#include "footprint.h"
#include "pair.h"
#include "server/server.h"

/* Packets that are made, carried and proven together; of the upstream about so many. */
#define BENCH_BATCH 1024

#define BENCH_MAX_LISTS (DS_PIPELINES > US_PIPELINES ? DS_PIPELINES : US_PIPELINES)

struct bench {
	struct lone_group lone;
	struct server server;
	struct crypto_provider *crypto; /* of the modems */
	uint16_t network[2]; /* the pipeline's end, the traffic's end */
	uint16_t rphy[2];
	uint64_t now; /* ns, of the pipeline */
	unsigned threads; /* of the downstream: 1, or 2 with `pair` */
	uint32_t flows; /* as in struct traffic_options */
	double begin; /* footprint_clock() before which no batch of a run is carried */
	struct pair pair;
	struct footprint footprint;
};

struct bench_direction;

/* One run over one mix. */
struct bench_run {
	uint64_t packets; /* carried */
	uint64_t bytes; /* of these */
	double cycles; /* reference cycles a packet, all stages, accounting on */
	double stages[BENCH_MAX_LISTS][PIPELINE_MAX_STAGES];
	double plain_cycles; /* a packet, with accounting off */
	double latency_cycles; /* a packet, with accounting off, that measuring latencies adds */
	double bound; /* crypto alone, a packet; negative: could not be measured */
	double begin, end; /* footprint_clock(), of the batches */
	bool proven; /* every packet */
};

/*
 * Makes ports, server and the modems' crypto provider in the zeroed `b`, and fills in its footprint but
 * for what loading took. With two threads the second is that of pair.h. Returns 0 or -1 after a message.
 */
int bench_create(struct bench *b, const struct service_group *sg, unsigned threads);

void bench_free(struct bench *b);

/* The one service group. */
static inline struct served_group *bench_group(const struct bench *b) {
	return &b->server.groups[0];
}

/* What was configured: without the places that are free in what serves. */
static inline const struct service_group *bench_config(const struct bench *b) {
	return &b->lone.group;
}

/* Runs `mix` for about `milliseconds` of pipeline and traffic together. Returns 0 or -1. */
int bench_run(struct bench *b, const struct bench_direction *d, const struct mix *mix,
	      unsigned milliseconds, uint64_t seed, struct bench_run *out);
