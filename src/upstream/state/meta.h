/* SPDX-License-Identifier: BSD-3-Clause */
/* The metadata of upstream mbufs, in the memory of struct packet_meta. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "pipeline/packet.h"

struct us_meta {
	struct rte_mbuf *next; /* in a queue: pipeline/queue.h */
	union {
		struct {
			uint16_t session; /* index */
		} packet;
		struct {
			uint16_t channel; /* index */
			uint16_t sid;
			bool ranging;
			/* in a request opportunity: frames without a segment header */
			bool request;
		} burst;
		struct {
			uint32_t stream; /* index */
			uint16_t pointer : 14; /* to the first frame that begins in the segment */
			uint16_t has_pointer : 1;
			uint16_t request : 1; /* as the burst's */
			uint8_t channel; /* index */
			bool gap; /* segments before it are missing */
		} segment;
		struct {
			uint32_t flow : 24; /* index */
			/* index, of the channel that received the frame's header */
			uint32_t channel : 8;
			uint16_t sid; /* of the privacy extended header */
			uint16_t management : 1;
			uint16_t fragment : 1;
			uint16_t fragment_first : 1;
			uint16_t fragment_last : 1;
			uint16_t fragment_sequence : 4;
			uint16_t privacy : 1; /* it has a privacy extended header */
			uint16_t encrypted : 1;
			uint16_t toggle : 1;
			uint16_t key_sequence : 4;
			/* extracted from joined fragments, or the chain of them */
			uint16_t joined : 1;
		} frame;
	};
	uint64_t arrived; /* as packet_meta's */
};

_Static_assert(sizeof(struct us_meta) <= sizeof(struct packet_meta) &&
		       _Alignof(struct us_meta) <= PACKET_META_ALIGN,
	       "us_meta fits the field of packet_meta");
_Static_assert(offsetof(struct us_meta, next) == 0, "queue_next() links packets by this member");
_Static_assert(offsetof(struct us_meta, arrived) == offsetof(struct packet_meta, arrived),
	       "latency_arrive() sets it by packet_meta");

static inline struct us_meta *us_meta(struct rte_mbuf *m) {
	return (struct us_meta *)packet_meta(m);
}
