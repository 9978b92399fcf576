/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Where one capture takes copies of what one worker runs of a group, or of a port: what it keeps from packet to
 * packet. It lives on when the group changes, and moves with its part from worker to worker.
 */
#pragma once

#include <stdint.h>

#include "capture/live/bucket.h"
#include "capture/live/facts.h"
#include "capture/live/ring.h"

#define TAP_SNAP_MAX 65535 /* bytes of a packet */
#define TAP_DROP_SLOT TAP_BOUNDARIES /* behind the boundaries: what is dropped */
#define TAP_SLOTS (TAP_BOUNDARIES + 1)

/* The worker's to write, by boundary. */
struct tap_tally {
	uint64_t matched; /* packets that the filters let through */
	uint64_t limited; /* of these, beyond the rate */
	uint64_t missed; /* of these, for which the ring had no room */
};

struct tap_end {
	struct tap_ring ring;
	uint32_t snap; /* bytes of a packet, at most */
	uint32_t sample; /* one in so many */
	uint32_t skip; /* packets until the next one */
	struct tap_bucket bucket;
	struct tap_tally tallies[TAP_SLOTS];
};

struct tap_end_config {
	uint32_t snap; /* 1..TAP_SNAP_MAX */
	uint32_t sample; /* 1.. */
	uint32_t rate; /* a second, up to TAP_RATE_MAX; 0: no limit */
	uint32_t ring; /* bytes, a power of two */
};

/* Returns NULL without memory. To be freed by tap_end_free() when no worker can reach it. */
struct tap_end *tap_end_create(const struct tap_end_config *c);
void tap_end_free(struct tap_end *e);

/* What is to be copied. */
struct tap_packet {
	struct rte_mbuf *m;
	const struct tap_tables *tables;
	enum tap_kind kind;
	uint32_t stage; /* or TAP_NO_STAGE */
	enum tap_side side;
	uint16_t reason; /* DROP_NONE: it is not dropped */
	uint16_t slot; /* of the tallies */
	uint64_t now; /* ns, by the worker's clock */
};

/* Takes a copy, unless the rate or the ring is against it. The facts are those of the packet. */
void tap_end_copy(struct tap_end *e, const struct tap_packet *p, struct tap_facts *f);
