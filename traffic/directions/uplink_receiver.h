/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiving half of the upstream: the core network behind the CMTS. Every IP frame that comes
 * out of the network port is compared with the packet that a modem made.
 *
 *     network port ==> tag: this run's? --> stream, sequence, every byte --> order in its stream
 *                           |                         |
 *                       unexpected                corrupted
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "directions/neighbours.h"
#include "directions/uplink.h"
#include "proof/evidence.h"
#include "proof/proof.h"

enum uplink_corruption {
#define CORRUPTION(enumerator, name, meaning) UPLINK_CORRUPTION_##enumerator,
#include "directions/uplink_corruption.def"
#undef CORRUPTION
	UPLINK_CORRUPTIONS,
};

enum uplink_unexpected {
#define UNEXPECTED(enumerator, name, meaning) UPLINK_UNEXPECTED_##enumerator,
#include "directions/uplink_unexpected.def"
#undef UNEXPECTED
	UPLINK_UNEXPECTEDS,
};

extern const char *const uplink_corruption_names[UPLINK_CORRUPTIONS];
extern const char *const uplink_unexpected_names[UPLINK_UNEXPECTEDS];

struct uplink_receiver {
	const struct uplink *uplink;
	const struct neighbours *neighbours; /* NULL: there is no other group */
	struct evidence *evidence; /* of frames counted in `unexpected`; NULL: none is kept */
	uint64_t started; /* TSC: packets of this run are made later */
	struct proof
		proof; /* time counts from when the R-PHY port took a packet's last byte or, where modems
			     * wait for grants, from when it came to the modem's queue */
	uint64_t corrupted[UPLINK_CORRUPTIONS];
	uint64_t unexpected[UPLINK_UNEXPECTEDS];
	uint64_t astray; /* packets proven that an impairment should have kept back */
};

/* To be created before `uplink`, which must live on, makes its first packet. Returns 0, or -1 when
 * memory is short. */
int uplink_receiver_create(struct uplink_receiver *r, const struct uplink *uplink, uint64_t tsc_hz,
			   bool latency);

void uplink_receiver_free(struct uplink_receiver *r);

/* When `uplink` has been restarted: all counts are 0. */
void uplink_receiver_restart(struct uplink_receiver *r);

#define UPLINK_RECEIVE_BURST 32

/* Takes up to that many frames from the port. Returns how many. */
unsigned uplink_receiver_poll(struct uplink_receiver *r, uint16_t port);

/* Judges `n` frames that came at TSC `now`, one by one, and frees them. */
void uplink_receiver_take_burst(struct uplink_receiver *r, struct rte_mbuf **frames, unsigned n,
				uint64_t now);

/* Judges a frame of `size` bytes without CRC that came at TSC `now`, and counts it. */
void uplink_receiver_take(struct uplink_receiver *r, const uint8_t *frame, size_t size,
			  uint64_t now);

/* All frames counted in `corrupted`. */
uint64_t uplink_receiver_corrupted(const struct uplink_receiver *r);

/* Packets sent of which nothing was heard yet. */
uint64_t uplink_receiver_missing(const struct uplink_receiver *r);
