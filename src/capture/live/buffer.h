/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The ring and tallies of one capture at one site: a part of a group, or a port, whose worker
 * copies packets to it. They survive changes of the group, and move with their part between
 * workers.
 */
#pragma once

#include <stdint.h>

#include "capture/live/bucket.h"
#include "capture/live/facts.h"
#include "capture/live/ring.h"

#define TAP_SNAP_MAX 65535 /* bytes of a packet */
#define TAP_DROP_SLOT TAP_BOUNDARIES /* index of the drop tally, after the boundaries */
#define TAP_SLOTS (TAP_BOUNDARIES + 1)

/* Counts per boundary. The worker writes them. */
struct tap_tally {
	uint64_t matched; /* packets that passed the filters */
	uint64_t limited; /* of these: beyond the rate */
	uint64_t missed; /* of these: the ring was full */
};

struct tap_buffer {
	struct tap_ring ring;
	uint32_t snap; /* bytes per packet, at most */
	uint32_t sample; /* copies one packet in so many */
	uint32_t skip; /* packets to skip before the next copy */
	struct tap_bucket bucket;
	struct tap_tally tallies[TAP_SLOTS];
};

struct tap_buffer_config {
	uint32_t snap; /* 1..TAP_SNAP_MAX */
	uint32_t sample; /* 1.. */
	uint32_t rate; /* per second, up to TAP_RATE_MAX; 0: no limit */
	uint32_t ring; /* bytes, a power of two */
};

/* Returns NULL without memory. Free it with tap_buffer_free() when no worker can reach it. */
struct tap_buffer *tap_buffer_create(const struct tap_buffer_config *c);
void tap_buffer_free(struct tap_buffer *e);

/* A packet to copy. */
struct tap_packet {
	struct rte_mbuf *m;
	const struct tap_tables *tables;
	enum tap_kind kind;
	uint32_t stage; /* or TAP_NO_STAGE */
	enum tap_side side;
	uint16_t reason; /* DROP_NONE: not dropped */
	uint16_t slot; /* index of its tally */
	uint64_t now; /* ns, by the worker's clock */
};

/* Copies the packet, unless the rate limit or a full ring prevents it. `f`: facts of this packet. */
void tap_buffer_copy(struct tap_buffer *e, const struct tap_packet *p, struct tap_facts *f);
