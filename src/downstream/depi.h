/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DEPI: concatenates and fragments DOCSIS frames to PSP segments in frames of full MTU, in one
 * L2TPv3 session per channel. Nothing is copied: a DEPI frame is a chain of a header mbuf and the
 * segments' mbufs. A part of a split DOCSIS frame is an attached mbuf.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/queue.h>

#include <rte_branch_prediction.h>
#include <rte_mbuf.h>

#include "model/service_group.h"
#include "pipeline/counters.h"
#include "pipeline/packet.h"
#include "wire/l2tpv3.h"
#include "wire/psp.h"

/* bytes; a shorter fragment would cost more than it fills */
#define DEPI_MIN_FRAGMENT 16

/* The format of a channel's DEPI frames. */
struct depi_format {
	/* Bytes beside segments and their table entries, with the Ethernet header but without
	 * its tag. */
	uint16_t overhead;
	uint16_t capacity; /* bytes for segments and their table entries */
};

/* A channel's session and its open DEPI frame. */
struct depi_channel {
	TAILQ_ENTRY(depi_channel) by_age; /* in the list of open frames */
	uint64_t opened_at; /* ns */
	struct rte_mbuf *head; /* NULL: no open frame */
	struct rte_mbuf *tail;
	uint8_t *psp; /* PSP header in `head` */
	uint16_t capacity; /* bytes per DEPI frame for segments and their table entries */
	uint16_t space; /* of these, bytes left in the open frame */
	uint16_t ends; /* DOCSIS frames that end in the open frame */
	uint8_t segments;
	uint8_t counter; /* 4 bits, part of the extra bytes */
	uint8_t profile;
	uint8_t extra_bytes; /* 0 or 2 */
	enum psp_extra extra;
	uint8_t flow; /* PSP flow */
	uint16_t sequence;
	uint16_t withdrawn; /* messages; see depi_message_withdraw() */
	uint8_t encap[DEPI_ENCAP_MAX];
};

TAILQ_HEAD(depi_open, depi_channel);

struct depi {
	struct depi_channel *channels;
	uint32_t channel_count;
	struct depi_open open; /* the oldest first: all have the same flush time */
	uint64_t flush_ns;
	uint8_t max_segments;
	uint8_t family;
	uint8_t encap_size;
	uint8_t tag_size; /* of these, bytes of the VLAN tag */
	uint32_t ends_open; /* DOCSIS frames that end in an open DEPI frame */
	struct rte_mempool *headers;
	struct rte_mempool *fragments;
	/* Streams of management messages, see pipeline/messages.h: the MAP pseudowires, then a
	 * PSP flow in the session of each channel. NULL without an upstream scheduler. */
	struct depi_channel *messages;
	uint32_t pseudowires;
	uint8_t message_flow; /* PSP flow of the latter; 0: that of data */
};

/* The format of the channel's DEPI frames; the scheduler uses it, too. */
struct depi_format depi_format(const struct rphy_config *r, const struct channel *c);

/* Prepares a session for each channel, with capacity for `channels` or the present number if
 * that is more. Returns 0, or -1 if memory is short. */
int depi_create(struct depi *d, const struct service_group *sg, uint32_t channels,
		struct rte_mempool *headers, struct rte_mempool *fragments);

/* Sets the channel's session. Its number continues if the session `stays` the same; else it
 * restarts. There must be no open frame. */
void depi_channel_set(struct depi *d, const struct service_group *sg, uint32_t channel,
		      const struct channel *c, bool stays);

/* Creates the sessions for messages of the group's upstream scheduler, with capacity for
 * `pseudowires` upstream channels. Returns 0, or -1 if memory is short. */
int depi_messages_create(struct depi *d, const struct service_group *sg, uint32_t pseudowires);

/*
 * Encapsulates a message in up to DEPI_MESSAGE_FRAMES DEPI frames of its stream; none stays open.
 * Stores them in `out` and returns their number. If no buffer is left, sets `*whole` to false and
 * frees the message; `out` may have its start.
 */
#define DEPI_MESSAGE_FRAMES 4
uint16_t depi_message(struct depi *d, uint32_t stream, struct rte_mbuf *m, uint64_t now,
		      struct counters *c, struct rte_mbuf **out, bool *whole);

/*
 * Withdraws a message's frame that waits for the port, so that the receiver misses no number. The
 * caller then passes each later frame to depi_message_renumber(), in order, and finally calls
 * depi_messages_withdraw_end(). Returns false if the start of the message was sent already: the rest
 * must be sent, too. Only for streams whose frames are sent before data.
 */
bool depi_message_withdraw(struct depi *d, uint32_t stream, struct rte_mbuf *frame);
void depi_message_renumber(struct depi *d, uint32_t stream, struct rte_mbuf *frame);
void depi_messages_withdraw_end(struct depi *d);

/* Frees the channels and the open frames. */
void depi_free(struct depi *d);

/* When the oldest open DEPI frame is flushed, ns. UINT64_MAX without open frames. */
uint64_t depi_deadline(const struct depi *d);

/* Close the oldest open DEPI frame, or that of a channel. Return NULL if none is open. */
struct rte_mbuf *depi_close_oldest(struct depi *d, struct counters *c);
struct rte_mbuf *depi_close_channel(struct depi *d, uint32_t channel, struct counters *c);

/* Pads a DEPI frame, whose last mbuf is `last`, to `min` bytes, Ethernet's minimum. Uses a buffer
 * of `pool`, as the frame's buffers may be shared. Without a buffer the frame stays short. */
static inline void depi_pad(struct rte_mbuf *head, struct rte_mbuf *last, uint32_t min,
			    struct rte_mempool *pool) {
	struct rte_mbuf *padding;
	uint16_t missing;

	if (likely(head->pkt_len >= min))
		return;
	padding = rte_pktmbuf_alloc(pool);
	if (padding == NULL)
		return;
	missing = (uint16_t)(min - head->pkt_len);
	memset(rte_pktmbuf_append(padding, missing), 0, missing);
	packet_meta(padding)->arrived = 0; /* no packet ends in it */
	last->next = padding;
	head->pkt_len = min;
	head->nb_segs++;
}
