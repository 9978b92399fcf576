/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The DEPI stage on its own: channels, pools, and DOCSIS frames whose bytes tell what they are.
 *
 *     frame   number (4)  size (2)  bytes that follow from both
 */
#pragma once

#include "downstream/downstream.h"

#include "depi_reader.h"

#define DEPI_KIT_CHANNELS 5
#define DEPI_KIT_FLUSH_NS 50000

struct depi_kit_config {
	uint32_t mtu; /* 0: 1500 */
	uint32_t max_segments; /* 0: 16 */
	uint8_t family; /* 0: 4 */
	enum psp_extra extra;
	uint16_t vlan;
	unsigned packets, headers, fragments; /* buffers in the pools; 0: 1023 */
};

struct depi_kit {
	struct service_group sg;
	struct channel channels[DEPI_KIT_CHANNELS];
	struct clock clock;
	struct ds_lower lower;
	struct rte_mempool *packets, *headers, *fragments;
	struct depi_kit_channel {
		uint32_t sent, back; /* number of the next frame */
		bool lossy; /* numbers may be left out */
	} ends[DEPI_KIT_CHANNELS];
	struct depi_reader readers[DEPI_KIT_CHANNELS];
	uint64_t in; /* DOCSIS frames */
};

extern struct depi_kit depi_kit;

void depi_kit_open(const struct depi_kit_config *c);

/* Fails where a buffer is missing afterwards. */
void depi_kit_close(void);

/* The channel's next DOCSIS frame of `size` bytes, at least 6. NULL where the pool is empty. */
struct rte_mbuf *depi_kit_frame(uint16_t channel, uint32_t size);

/* The stage. Returns how many DEPI frames came out. */
uint16_t depi_kit_run(struct rte_mbuf **pkts, uint16_t n);

/* The same with the channel's next frame alone; 0 bytes: with none. */
uint16_t depi_kit_put(uint16_t channel, uint32_t size, struct rte_mbuf **pkts);

/* Reads a DEPI frame and checks what the stage says of it, and its channel where that is told. Does not free it. */
struct depi_seen depi_kit_read(struct rte_mbuf *m, uint32_t *channel);

/* Counters, held packets and frames that are back agree. */
void depi_kit_check(void);
