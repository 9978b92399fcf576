/* SPDX-License-Identifier: BSD-3-Clause */
/* A frame before it is written, and those that change or add some on request. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "core/packet.h"
#include "wire/docsis_mac.h"
#include "wire/docsis_up.h"

struct crypto_key;
struct impair;
struct uplink_grant;
struct uplink_refused;

struct uplink_frame {
	struct docsis_up_header h;
	const struct crypto_key *key; /* NULL: in the clear */
	uint32_t modem; /* from whose address the packet comes */
	unsigned mark; /* what is done to it, as those below have it */
};

/* Makes frames go wrong (impairments/): is told of each frame of a stream, one after the other. */
struct frame_impairer {
	/* A grant is going to be filled. */
	void (*grant)(struct impair *im, struct uplink_grant *g);
	/* Chooses what is to happen to a frame of the grant, and changes `f` for it. */
	void (*choose)(struct impair *im, const struct uplink_grant *g, struct uplink_frame *f);
	/*
	 * The frame was written, `size` bytes at `at` of the grant's buffer, and is not encrypted yet. Of a
	 * packet `sequence` is the number, of a last fragment the packets of its unit.
	 */
	void (*made)(struct impair *im, struct uplink_grant *g, const struct uplink_frame *f,
		     uint32_t sequence, uint32_t at, uint32_t size);
	/* The same for a packet in a unit that goes in fragments. */
	void (*inner_made)(struct impair *im, const struct uplink_grant *g,
			   const struct uplink_frame *f, uint32_t sequence);
	/* A frame was written that is never hit: request, management, concatenation. */
	void (*plain_made)(struct impair *im, const struct uplink_grant *g, enum docsis_kind kind,
			   uint32_t size);
};

/* Adds frames that the CMTS has to drop (refused/). */
struct frame_refuser {
	/* A packet is going to be put into the grant: whether such a frame comes first, and which. */
	bool (*choose)(struct uplink_refused *r, const struct uplink_grant *g,
		       struct uplink_frame *f, struct packet_tag *tag);
	/* It was written, and is not encrypted yet. */
	void (*written)(struct uplink_refused *r, const struct uplink_frame *f, uint8_t *frame,
			uint32_t size);
};
