/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The R-PHY device's end of a DEPI session: checks each DEPI frame against what the session must
 * look like, and puts DOCSIS frames together again. A frame whose rest never comes is forgotten
 * when the next one begins, as a device does.
 */
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
	uint16_t vlan; /* in whose tag each DEPI frame comes; 0: none */
	uint32_t mtu;
	unsigned max_segments;
	void (*frame)(void *ctx, const uint8_t *bytes, size_t size); /* a whole DOCSIS frame */
	void *ctx;
	/* what came so far */
	uint16_t sequence; /* of the next */
	uint8_t counter;
	uint64_t packets, segments, frames;
	uint64_t fragments; /* segments that are no whole DOCSIS frames */
	uint64_t cut_off; /* DOCSIS frames without an end */
	bool open;
	size_t size;
	uint8_t bytes[DEPI_READER_FRAME];
};

/* What one DEPI frame was like. */
struct depi_seen {
	unsigned segments;
	unsigned ends;
	size_t space; /* bytes that the MTU would have allowed more */
};

/* That of a channel of the group; what becomes of its frames is the test's to say. */
struct depi_reader depi_reader_of(const struct service_group *sg, uint32_t channel);

/* The session number of a DEPI frame. */
uint32_t depi_session(const struct rte_mbuf *m);

/* Takes the session's next DEPI frame in; does not free it. The test fails where it is wrong. */
struct depi_seen depi_read(struct depi_reader *r, const struct rte_mbuf *m);
