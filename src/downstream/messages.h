/* SPDX-License-Identifier: BSD-3-Clause */
/* What the stages beside it ask of the row `messages`. */
#pragma once

#include "downstream/downstream.h"

/* Messages that end in the DEPI frames in line for the port. */
uint32_t ds_messages_waiting(const struct ds_messages *x);

/* These, and those in the ring. */
static inline uint32_t ds_messages_held(const struct ds_messages *x) {
	return x->path.ring == NULL ? 0 : rte_ring_count(x->path.ring) + ds_messages_waiting(x);
}

/* The row `transmit`, behind it: takes the messages out of the burst, of which as many are left as it returns, and sends
 * what the port takes. `*sent` is how many frames. */
uint16_t ds_messages_send(struct ds_lower *l, struct rte_mbuf **pkts, uint16_t n, uint16_t *sent);

/* By the upper MAC: what has been sent takes of the channels. */
void ds_messages_charge(struct ds_upper *u);
