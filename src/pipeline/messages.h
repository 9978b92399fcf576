/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the upstream scheduler to the lower MAC, which transmits them before data.
 *
 * A ring connects both workers. Byte counts of the messages per downstream channel tell the
 * downstream scheduler their share. The downstream owns the path; it has one producer and one
 * consumer.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>
#include <rte_ring.h>

#include "model/service_group.h"
#include "pipeline/packet.h"

#define MESSAGES_RING 512 /* minimum; a power of two */
#define MESSAGE_ANY_TIME UINT16_MAX

/* The metadata of a message, or of a DEPI frame with a part of one, in the memory of struct
 * packet_meta. */
struct message_meta {
	uint64_t due; /* ns of the workers' clocks */
	uint16_t stream; /* message_pseudowire() or message_channel() */
	uint16_t slack; /* us after `due` at which it expires; MESSAGE_ANY_TIME: never */
	uint16_t ends; /* 0: no packet ends in it */
	uint8_t messages; /* of a DEPI frame: the number that end in it */
	uint8_t head; /* of a DEPI frame: bytes before the first segment */
	uint64_t arrived; /* 0: not from a port */
};

_Static_assert(sizeof(struct message_meta) == sizeof(struct packet_meta) &&
		       offsetof(struct message_meta, ends) == offsetof(struct packet_meta, ends) &&
		       offsetof(struct message_meta, arrived) ==
			       offsetof(struct packet_meta, arrived),
	       "who sends asks for both");

struct message_path {
	struct rte_ring *ring; /* of mbufs: messages from the DA on, or whole frames */
	uint32_t pseudowires; /* slots of upstream channels */
	uint32_t channels; /* slots of downstream channels */
	uint64_t *bytes; /* by downstream channel: bytes of frames put into the ring */
	uint64_t total; /* of all channels; written last */
};

/*
 * Slots of the ring. The MAPs and UCDs of all channels may be made at once, each for the MAP
 * pseudowire and every downstream channel that carries MAPs. A power of two, of which one slot
 * stays empty.
 */
static inline uint32_t messages_ring(const struct service_group *sg) {
	uint32_t messages = 0;

	for (size_t c = 0; c < sg->upstream_channel_count; c++) {
		size_t carriers = sg->upstream_channels[c].grants.map_channel_count;

		messages += 2 * (1 + (uint32_t)RTE_MAX(carriers, (size_t)1));
	}
	return RTE_MAX(rte_align32pow2(messages + 1), (uint32_t)MESSAGES_RING);
}

static inline struct message_meta *message_meta(struct rte_mbuf *m) {
	return RTE_MBUF_DYNFIELD(m, packet_meta_offset, struct message_meta *);
}

/* Streams: the MAP pseudowire of an upstream channel, and the session of a downstream channel. */
static inline uint16_t message_pseudowire(uint32_t upstream_channel) {
	return (uint16_t)upstream_channel;
}

static inline uint16_t message_channel(const struct message_path *p, uint32_t channel) {
	return (uint16_t)(p->pseudowires + channel);
}

static inline bool message_is_late(const struct message_meta *m, uint64_t now) {
	return now > m->due + m->slack * UINT64_C(1000) && m->slack != MESSAGE_ANY_TIME;
}

/* Puts a message into the ring. Returns whether it fit; then the lower MAC owns the mbuf. Its
 * bytes count even if it is too late to be transmitted. */
static inline bool message_put(struct message_path *p, struct rte_mbuf *m, uint16_t stream,
			       uint64_t due, uint16_t slack) {
	uint32_t size = rte_pktmbuf_pkt_len(m);

	*message_meta(m) = (struct message_meta){.due = due, .stream = stream, .slack = slack};
	if (unlikely(rte_ring_sp_enqueue(p->ring, m) != 0))
		return false;
	if (stream >= p->pseudowires) {
		uint64_t *bytes = &p->bytes[stream - p->pseudowires];

		__atomic_store_n(bytes, *bytes + size, __ATOMIC_RELAXED);
		__atomic_store_n(&p->total, p->total + size, __ATOMIC_RELEASE);
	}
	return true;
}
