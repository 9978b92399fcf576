/* SPDX-License-Identifier: BSD-3-Clause */
/* What a downlink makes of the frames that it receives. */
#pragma once

#include "directions/downlink.h"

/* A deliver_fn: the packet has passed every check but order, or is only counted. */
void judge_deliver(void *downlink, const struct arrived *packet, uint64_t now);

/* A receiver_wants_fn for the frames that are only counted. */
bool judge_is_wanted(void *downlink, struct rte_mbuf *head);

/* Takes the DOCSIS frames out of a DEPI frame. Returns whether that remains the caller's; if not, it is held. */
bool judge_depi(struct downlink *d, struct rte_mbuf *depi);

/* Decrypts and judges what judge_depi() has taken. */
void judge_batch(struct downlink *d);

/* Judges again what was held, of a group that changes, and came before TSC `before`. Without `again` for the last time:
 * nothing will be known of it any more. */
void judge_held(struct downlink *d, uint64_t before, bool again);
