/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages of the upstream scheduler to the lower MAC, which transmits them before data.
 *
 * The worker of the upstream scheduler puts mbufs into a ring, from which the worker of the lower MAC
 * takes them. The worker of the upper MAC reads the byte counts, to charge messages to the rates of
 * the channels. The downstream owns the path.
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

#define MESSAGES_RING 512 /* minimum of messages_ring(); a power of two */
#define MESSAGE_ANY_TIME UINT16_MAX /* `slack` of a message that never expires, such as a UCD */

/* The metadata of a message in the ring, or of a DEPI frame with messages or a part of one. It is in
 * the mbuf field of struct packet_meta. */
struct message_meta {
	uint64_t due; /* ns of the workers' clocks */
	uint16_t stream; /* message_pseudowire() or message_channel() */
	uint16_t slack; /* us after `due` at which it expires; MESSAGE_ANY_TIME: never */
	uint16_t ends; /* always 0: a message is not a packet */
	uint8_t messages; /* of a DEPI frame: the number that end in it */
	uint8_t head; /* of a DEPI frame: bytes before the first segment */
	uint64_t arrived; /* always 0: the latency of messages is not measured */
};

_Static_assert(sizeof(struct message_meta) == sizeof(struct packet_meta) &&
		       offsetof(struct message_meta, ends) == offsetof(struct packet_meta, ends) &&
		       offsetof(struct message_meta, arrived) ==
			       offsetof(struct packet_meta, arrived),
	       "stages read these members of messages, too, as those of packet_meta");

struct message_path {
	/* of mbufs: for a pseudowire, messages from the DA on; for a channel, DOCSIS frames with MAC
	 * header and CRC */
	struct rte_ring *ring;
	uint32_t pseudowires; /* slots of upstream channels */
	uint32_t channels; /* slots of downstream channels */
	uint64_t *bytes; /* by downstream channel: bytes put into the ring since the start */
	uint64_t total; /* sum of `bytes`; stored after them, with release order */
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

/* Whether a message has expired at `now`, ns of the worker's clock. */
static inline bool message_is_late(const struct message_meta *m, uint64_t now) {
	return now > m->due + m->slack * UINT64_C(1000) && m->slack != MESSAGE_ANY_TIME;
}

/* Puts a message into the ring; `due` in ns, `slack` in us. The lower MAC then owns the mbuf. Returns
 * false if the ring is full: the caller keeps the mbuf. Charges the bytes to a downstream channel,
 * even if the message expires. */
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
