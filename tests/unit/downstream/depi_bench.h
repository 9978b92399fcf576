/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The DEPI stage on its own: channels, pools, and DOCSIS frames whose bytes tell what they are.
 *
 *     frame   number (4)  size (2)  bytes that follow from both
 */
#pragma once

#include "downstream/downstream.h"

#include "depi_reader.h"

#define DEPI_CHANNELS 5
#define DEPI_SESSION 0x10000
#define DEPI_BENCH_FLUSH_NS 50000

struct depi_bench_config {
	uint32_t mtu;
	uint32_t max_segments;
	uint8_t family;
	enum psp_extra extra;
	uint64_t flush_ns;
	unsigned packets, headers, fragments; /* buffers in the pools */
};

/* What came back of one channel. */
struct depi_bench_channel {
	uint32_t sent, back; /* number of the next frame */
	bool lossy; /* numbers may be left out */
};

struct depi_bench {
	struct service_group sg;
	struct channel channels[DEPI_CHANNELS];
	struct clock clock;
	struct ds_lower lower;
	struct rte_mempool *packets, *headers, *fragments;
	struct depi_bench_channel ends[DEPI_CHANNELS];
	struct depi_reader readers[DEPI_CHANNELS];
};

void depi_bench_open(struct depi_bench *b, const struct depi_bench_config *c);

/* The same for tests that are not about sizes: IPv4, counters, and room for all they put in. */
void depi_bench_open_roomy(struct depi_bench *b);

/* Fails where a buffer is missing afterwards. */
void depi_bench_close(struct depi_bench *b);

/* The channel's next DOCSIS frame of `size` bytes, at least 6. NULL where the pool is empty. */
struct rte_mbuf *depi_bench_frame(struct depi_bench *b, uint16_t channel, uint32_t size);

/* Reads a DEPI frame and checks what the stage says of it. Does not free it. */
struct depi_seen depi_bench_read(struct depi_bench *b, struct rte_mbuf *m);

/* Puts the channel's next frame in and returns how many DEPI frames came out. */
uint16_t depi_bench_put(struct depi_bench *b, uint16_t channel, uint32_t size,
			struct rte_mbuf **pkts);

/* Reads a DEPI frame as above, frees it, and returns its channel. */
uint32_t depi_bench_take(struct depi_bench *b, struct rte_mbuf *m);

/* Counters, held packets and frames come back agree. `in` is what was put in. */
void depi_bench_check(const struct depi_bench *b, uint64_t in);
