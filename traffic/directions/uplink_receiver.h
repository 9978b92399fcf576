/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The receiving half of the upstream: the core network behind the CMTS. It compares every IP frame from the
 * network port with the packet that a modem made.
 *
 *     network port ==> tag: this run's? --> stream, sequence, every byte --> order in its stream
 *                           |                         |
 *                       unexpected                corrupted
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <rte_mbuf.h>

#include "directions/run_groups.h"
#include "directions/unresolved.h"
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
	const struct run_groups *run_groups; /* NULL: no other groups */
	struct evidence *evidence; /* of corrupted and unexpected frames; NULL: none */
	struct unresolved
		*unresolved; /* frames that a change may explain; NULL: the group does not change */
	uint64_t started; /* TSC: packets of this run are made later */
	/* latency counts from acceptance of a packet's last byte by the R-PHY port; for scheduled modems,
	 * from its arrival at the modem's queue */
	struct proof proof;
	uint64_t corrupted[UPLINK_CORRUPTIONS];
	uint64_t unexpected[UPLINK_UNEXPECTEDS];
	uint64_t survived; /* packets proven although an impairment was to lose them */
};

/* Must be called before `uplink` makes its first packet; `uplink` must outlive the receiver.
 * Returns 0, or -1 if memory is short. */
int uplink_receiver_create(struct uplink_receiver *r, const struct uplink *uplink, uint64_t tsc_hz,
			   bool latency);

void uplink_receiver_free(struct uplink_receiver *r);

/* Sets all counts to 0 after a restart of `uplink`. */
void uplink_receiver_restart(struct uplink_receiver *r);

#define UPLINK_RECEIVE_BURST 32

/* Receives up to that many frames from the port. Returns their number. */
unsigned uplink_receiver_poll(struct uplink_receiver *r, uint16_t port);

/* Verifies and frees `n` frames received at TSC `now`. */
void uplink_receiver_process_burst(struct uplink_receiver *r, struct rte_mbuf **frames, unsigned n,
				   uint64_t now);

/* Verifies and counts a frame of `size` bytes without CRC received at TSC `now`. */
void uplink_receiver_process(struct uplink_receiver *r, const uint8_t *frame, size_t size,
			     uint64_t now);

/* Gives unresolved frames that arrived before TSC `before` their verdict. With `again`, unexplained
 * frames remain unresolved; otherwise all earlier changes are known. */
void uplink_receiver_retry(struct uplink_receiver *r, uint64_t before, bool again);

/* Sum of `corrupted`. */
uint64_t uplink_receiver_corrupted(const struct uplink_receiver *r);

/* Number of packets sent and not received yet. */
uint64_t uplink_receiver_missing(const struct uplink_receiver *r);
