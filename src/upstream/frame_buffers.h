/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The mbufs of frames: with room of their own, into which a frame is copied, or attached to the packet in
 * which it lies whole.
 */
#pragma once

#include <stdint.h>

#include <rte_mbuf.h>
#include <rte_mempool.h>

#include "upstream/state/cut.h"
#include "wire/docsis_mac.h"

#define US_STOCK 64

struct upstream;

/* Those of a pool that are taken next. */
struct us_stock {
	struct rte_mbuf *all[US_STOCK];
	unsigned count;
};

/* With US_FRAME_ROOM bytes; NULL where the pool has none. */
struct rte_mbuf *us_frame_buffer(struct upstream *u);

/*
 * The PDU of `size` bytes at the place of the cut, which goes on behind it; NULL, and the cut stands as it
 * stood, where it is to be copied: it does not lie in one piece, or may wait for others. It has no room behind it,
 * and before it as much as its MAC header had, VLAN_TAG_SIZE or more; elsewhere in the buffer are
 * others.
 */
struct rte_mbuf *us_frame_in_place(struct upstream *u, struct us_cut *c,
				   const struct docsis_mac *mac, uint32_t size);

void us_stock_free(struct us_stock *s, struct rte_mempool *pool);
