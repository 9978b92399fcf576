/* SPDX-License-Identifier: BSD-3-Clause */
/* The mbufs of frames: a buffer to which a frame is copied, or an mbuf attached to the packet
 * that contains the whole frame. */
#pragma once

#include "upstream/shared.h"
#include "upstream/state/cursor.h"
#include "wire/docsis_mac.h"

#define US_STOCK 64
#define US_FRAME_SIZE 2048 /* bytes: of an incomplete MAC header first, then of the PDU */
#define US_FRAME_BUFFER (RTE_PKTMBUF_HEADROOM + US_FRAME_SIZE)

/* Buffers of a pool, allocated in advance. */
struct us_stock {
	struct rte_mbuf *all[US_STOCK];
	unsigned count;
};

struct us_frame_buffers {
	const struct us_resources *r;
	struct us_stock copied; /* buffers to copy frames to */
	struct us_stock attached; /* mbufs for frames that stay in their packets */
};

/* A buffer with US_FRAME_SIZE bytes; NULL if the pool is empty. */
struct rte_mbuf *us_frame_buffer(struct us_frame_buffers *b);

/*
 * Returns an mbuf attached to the `size` bytes of the PDU at the cursor, which moves behind them.
 *
 * Returns NULL if the frame must be copied: frames may not stay, this one is not a contiguous
 * packet PDU, or no mbuf is free. The cursor does not move then.
 *
 * The mbuf has no tailroom, and as much headroom as the MAC header had, VLAN_TAG_SIZE or more. The
 * rest of the buffer contains other frames.
 */
struct rte_mbuf *us_frame_attach(struct us_frame_buffers *b, struct us_cursor *c,
				 const struct docsis_mac *mac, uint32_t size);

/* Frees the buffers that were allocated in advance. */
void us_frame_buffers_stop(struct us_frame_buffers *b);
