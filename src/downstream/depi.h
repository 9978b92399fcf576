/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * DEPI: DOCSIS frames become PSP segments, concatenated and fragmented to frames of full MTU, one
 * L2TPv3 session a channel. Nothing is copied: a DEPI frame is a chain of a header mbuf and the
 * mbufs of the segments; a frame that is cut stands in its chain by an attached mbuf.
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

/* A cut that leaves less than this in a DEPI frame costs more than it fills. */
#define DEPI_MIN_FRAGMENT 16

/* How a channel's DEPI frames are filled. */
struct depi_format {
	uint16_t overhead; /* bytes that are neither segments nor their table entries, with those of
			    * the Ethernet header but its tag */
	uint16_t room; /* bytes for segments and their table entries */
};

/* One channel's session and the frame that is being filled for it. */
struct depi_channel {
	TAILQ_ENTRY(depi_channel) by_age; /* among the open ones */
	uint64_t opened_at; /* ns */
	struct rte_mbuf *head; /* NULL: nothing is open */
	struct rte_mbuf *tail;
	uint8_t *psp; /* where the PSP header stands in `head` */
	uint16_t room; /* of a DEPI frame, for segments and their table entries */
	uint16_t space; /* what is left of it */
	uint16_t ends; /* DOCSIS frames that end in it */
	uint8_t segments;
	uint8_t counter; /* 4 bits, in the extra bytes */
	uint8_t profile;
	uint8_t extra_bytes; /* 0 or 2 */
	enum psp_extra extra;
	uint8_t flow; /* of PSP */
	uint16_t sequence;
	uint16_t withdrawn; /* of messages, see depi_message_withdraw() */
	uint8_t encap[DEPI_ENCAP_MAX];
};

TAILQ_HEAD(depi_open, depi_channel);

struct depi {
	struct depi_channel *channels;
	uint32_t channel_count;
	struct depi_open open; /* the oldest first: all wait for the same time */
	uint64_t flush_ns;
	uint8_t max_segments;
	uint8_t family;
	uint8_t encap_size;
	uint8_t tag_size; /* of these, the tag's */
	uint32_t ends_open; /* DOCSIS frames that end in an open DEPI frame */
	struct rte_mempool *headers;
	struct rte_mempool *fragments;
	/* Of management messages, see pipeline/messages.h: MAP pseudowires, and behind them a flow in the session of each
	 * channel; NULL without an upstream scheduler. */
	struct depi_channel *messages;
	uint32_t pseudowires;
	uint8_t message_flow; /* of the latter; 0: that of data */
};

/* The format of the channel's DEPI frames, by which the scheduler counts too. */
struct depi_format depi_format(const struct rphy_config *r, const struct channel *c);

/* Prepares a session for every channel, with room for `channels` or as many as there are. Returns 0, or -1
 * when memory is short. */
int depi_create(struct depi *d, const struct service_group *sg, uint32_t channels,
		struct rte_mempool *headers, struct rte_mempool *fragments);

/* The channel's session anew: it begins with number 0, or goes on where it `stays` the same. Nothing of it is
 * open. */
void depi_channel_set(struct depi *d, const struct service_group *sg, uint32_t channel,
		      const struct channel *c, bool stays);

/* Sessions for the messages of the group's upstream scheduler, with room for so many upstream channels. Returns 0, or -1
 * when memory is short. */
int depi_messages_create(struct depi *d, const struct service_group *sg, uint32_t pseudowires);

/*
 * Takes a message into DEPI frames of its stream, of which none stays open, up to DEPI_MESSAGE_FRAMES. Returns how many
 * are in `out`. `*whole` tells whether all of it is in them; else it has ended, and some may be its beginning.
 */
#define DEPI_MESSAGE_FRAMES 4
uint16_t depi_message(struct depi *d, uint32_t stream, struct rte_mbuf *m, uint64_t now,
		      struct counters *c, struct rte_mbuf **out, bool *whole);

/*
 * A message's frame that waits for the port is not sent: its number is taken back. Those that wait behind it are given
 * to depi_message_follow() in their order, and at the end depi_messages_withdrawn() is called; so the receiver misses
 * no number. False: the message's beginning has gone out, so that its end has to go, too. Only for streams whose frames
 * do not go behind data.
 */
bool depi_message_withdraw(struct depi *d, uint32_t stream, struct rte_mbuf *frame);
void depi_message_follow(struct depi *d, uint32_t stream, struct rte_mbuf *frame);
void depi_messages_withdrawn(struct depi *d);

/* Frees the channels and what is open. */
void depi_free(struct depi *d);

/* When the oldest open DEPI frame is flushed, ns; UINT64_MAX where none is open. */
uint64_t depi_deadline(const struct depi *d);

/* Closes the oldest open DEPI frame, or that of a channel. Returns NULL where none is open. */
struct rte_mbuf *depi_close_oldest(struct depi *d, struct counters *c);
struct rte_mbuf *depi_close_channel(struct depi *d, uint32_t channel, struct counters *c);

/*
 * Makes a DEPI frame of `last` and others before it at least `least` bytes, Ethernet's least length, by a buffer of
 * `pool` behind them, as theirs may be shared. Without a buffer the frame stays as it is.
 */
static inline void depi_pad(struct rte_mbuf *head, struct rte_mbuf *last, uint32_t least,
			    struct rte_mempool *pool) {
	struct rte_mbuf *padding;
	uint16_t lacks;

	if (likely(head->pkt_len >= least))
		return;
	padding = rte_pktmbuf_alloc(pool);
	if (padding == NULL)
		return;
	lacks = (uint16_t)(least - head->pkt_len);
	memset(rte_pktmbuf_append(padding, lacks), 0, lacks);
	packet_meta(padding)->arrived = 0; /* no packet ends in it */
	last->next = padding;
	head->pkt_len = least;
	head->nb_segs++;
}
