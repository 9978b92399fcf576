/* SPDX-License-Identifier: BSD-3-Clause */
/* The R-PHY device's end of a DEPI session: checks DEPI frames and reassembles DOCSIS frames. It
 * discards an incomplete frame when the next one begins. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "model/service_group.h"

#define DEPI_READER_FRAME 2048

struct depi_reader {
	/* set by the test */
	uint32_t session;
	enum psp_extra extra;
	uint8_t profile;
	uint8_t family;
	uint16_t vlan; /* that each DEPI frame must have; 0: none */
	uint32_t mtu;
	unsigned max_segments;
	void (*frame)(void *ctx, const uint8_t *bytes, size_t size); /* gets each DOCSIS frame */
	void *ctx;
	/* state and counts of received frames */
	uint16_t sequence; /* expected PSP sequence number */
	uint8_t counter; /* expected, with PSP_EXTRA_COUNTER */
	uint64_t packets, segments, frames;
	uint64_t fragments; /* segments with a part of a DOCSIS frame */
	uint64_t incomplete; /* DOCSIS frames that were discarded */
	bool open; /* a DOCSIS frame is incomplete */
	size_t size; /* of `bytes`, the frame in reassembly */
	uint8_t bytes[DEPI_READER_FRAME];
};

/* The contents of a DEPI frame. */
struct depi_contents {
	unsigned segments;
	unsigned ends; /* segments that end a DOCSIS frame */
	size_t space; /* free bytes up to the MTU */
};

/* The reader of a channel of the group. The caller sets `frame` and `ctx`. */
struct depi_reader depi_reader_create(const struct service_group *sg, uint32_t channel);

uint32_t depi_session(const struct rte_mbuf *m);

/* Reads and checks the session's next DEPI frame. Does not free it. */
struct depi_contents depi_read(struct depi_reader *r, const struct rte_mbuf *m);
