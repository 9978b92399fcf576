/* SPDX-License-Identifier: BSD-3-Clause */
/* Implements uplink.h without modems, R-PHY device and CMTS: makes packets and transmits them as IP
 * frames through a port that the test sets. The test may damage them. */
#pragma once

#include <stdint.h>

#include "directions/uplink.h"

#define FAKE_STREAMS 3 /* UDP over IPv4, TCP over IPv4, UDP over IPv6 */
#define FAKE_UDP_IPV4 0
#define FAKE_FRAME_MAX 2048
#define FAKE_UDP_IPV4_TAG 42 /* offset of the tag */
#define FAKE_INCOMPLETE 5 /* packets that are incomplete when the fake is stopped */

/* How fakes that are created from now on behave. */
struct fake_plan {
	struct rte_mempool *pool; /* for frames of uplink_send() */
	uint16_t port; /* to which uplink_send() transmits */
	unsigned burst; /* packets per uplink_send() */
	uint32_t lose_every; /* one of this many packets is lost; 0: none */
	bool discard; /* the modems discard the first packet of the first stream */
	bool stuck; /* incomplete packets are never completed */
};
extern struct fake_plan fake_plan;

/* Writes the next packet of a stream to `out`, of FAKE_FRAME_MAX bytes; `sent_at` is its send time.
 * Returns the packet's size. */
uint32_t fake_uplink_make(struct uplink *u, uint32_t stream, uint64_t tsc, uint64_t sent_at,
			  uint8_t *out);
