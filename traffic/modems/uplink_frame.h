/* SPDX-License-Identifier: BSD-3-Clause */
/* A frame before it is written, and the callbacks that modify or add frames on request. */
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
	const struct crypto_key *key; /* NULL: not encrypted */
	uint32_t modem; /* index of the modem that sends the packet */
	unsigned mark; /* modification of the frame, as defined by the callbacks */
};

/* Callbacks that damage frames (impairments/). They see every frame of a stream in order. */
struct frame_impairer {
	/* A grant is about to be filled. */
	void (*grant)(struct impair *im, struct uplink_grant *g);
	/* Chooses a modification for a frame of the grant and changes `f` accordingly. */
	void (*choose)(struct impair *im, const struct uplink_grant *g, struct uplink_frame *f);
	/* The frame was written, `size` bytes at `at` of the grant's buffer, and is not encrypted yet.
	 * `sequence` is the number of its packet; for a fragment, the number of packets in its unit. */
	void (*made)(struct impair *im, struct uplink_grant *g, const struct uplink_frame *f,
		     uint32_t sequence, uint32_t at, uint32_t size);
	/* The same for a packet in a fragmented unit. */
	void (*inner_made)(struct impair *im, const struct uplink_grant *g,
			   const struct uplink_frame *f, uint32_t sequence);
	/* A frame was written that is never modified: request, management, concatenation. */
	void (*plain_made)(struct impair *im, const struct uplink_grant *g, enum docsis_kind kind,
			   uint32_t size);
};

/* Callbacks that add frames which the CMTS must drop (refused/). */
struct frame_refuser {
	/* Called before a packet is put into a grant of a flow with segment headers. Returns whether a frame
	 * to drop precedes it, and then fills in `f` and `tag`. */
	bool (*choose)(struct uplink_refused *r, const struct uplink_grant *g,
		       struct uplink_frame *f, struct packet_tag *tag);
	/* The frame was written, and is not encrypted yet. */
	void (*written)(struct uplink_refused *r, const struct uplink_frame *f, uint8_t *frame,
			uint32_t size);
};
