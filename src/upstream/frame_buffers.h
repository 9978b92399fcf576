/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mbufs of frames: with room of their own, into which a frame is copied, or attached to the packet in
 * which it lies whole.
 */
#pragma once

#include "upstream/shared.h"
#include "upstream/state/cut.h"
#include "wire/docsis_mac.h"

#define US_STOCK 64
#define US_FRAME_ROOM 2048 /* bytes of a PDU, or of a MAC header before it */
#define US_FRAME_BUFFER (RTE_PKTMBUF_HEADROOM + US_FRAME_ROOM)

/* Those of a pool that are taken next. */
struct us_stock {
	struct rte_mbuf *all[US_STOCK];
	unsigned count;
};

struct us_frame_buffers {
	const struct us_resources *r;
	struct us_stock rooms; /* for frames that are copied */
	struct us_stock places; /* for frames that stay where they are */
};

/* With US_FRAME_ROOM bytes; NULL where the pool has none. */
struct rte_mbuf *us_frame_buffer(struct us_frame_buffers *b);

/*
 * The PDU of `size` bytes at the place of the cut, which goes on behind it; NULL, and the cut stands as it
 * stood, where it is to be copied: it does not lie in one piece, or may wait for others. It has no room behind it,
 * and before it as much as its MAC header had, VLAN_TAG_SIZE or more; elsewhere in the buffer are
 * others.
 */
struct rte_mbuf *us_frame_in_place(struct us_frame_buffers *b, struct us_cut *c,
				   const struct docsis_mac *mac, uint32_t size);

/* Gives back those that were taken ahead. */
void us_frame_buffers_stop(struct us_frame_buffers *b);
