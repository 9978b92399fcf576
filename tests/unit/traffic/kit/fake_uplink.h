/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * uplink.h without modems, R-PHY device and CMTS: packets are made, and go as IP frames to where the
 * test says, damaged or not.
 */
#pragma once

#include <stdint.h>

#include "directions/uplink.h"

#define FAKE_STREAMS 3 /* UDP over IPv4, TCP over IPv4, UDP over IPv6 */
#define FAKE_UDP_IPV4 0
#define FAKE_FRAME_MAX 2048
#define FAKE_UDP_IPV4_TAG 42 /* offset of the tag */
#define FAKE_UNDER_WAY 5 /* packets that are begun and not complete when the fake is stopped */

/* What the fakes that are created from now on do. */
struct fake_plan {
	struct rte_mempool *pool; /* for frames of uplink_send() */
	uint16_t port; /* where they go */
	unsigned burst; /* packets of an uplink_send() */
	uint32_t lose_every; /* that many packets; 0: none */
	bool discard; /* modems discard a packet first, of the first stream */
	bool stuck; /* what is begun is never completed */
};
extern struct fake_plan fake_plan;

/* Makes the next packet of a stream, and says that it was sent at `sent_at`. `out` has room for
 * FAKE_FRAME_MAX bytes. Returns its size. */
uint32_t fake_uplink_make(struct uplink *u, uint32_t stream, uint64_t tsc, uint64_t sent_at,
			  uint8_t *out);
