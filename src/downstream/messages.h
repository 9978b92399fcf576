/* SPDX-License-Identifier: BSD-3-Clause */
/* What other stages ask of `messages` and `transmit_messages`. */
#pragma once

#include "downstream/downstream.h"

/* Messages that end in the DEPI frames in line for the port. */
uint32_t ds_messages_waiting(const struct ds_messages *x);

/* These, and those in the ring. */
static inline uint32_t ds_messages_held(const struct ds_messages *x) {
	return x->path.ring == NULL ? 0 : rte_ring_count(x->path.ring) + ds_messages_waiting(x);
}

/* Ends a MAP that would come too late, or a part of one, in which so many messages end. */
void ds_message_late(struct ds_lower *l, struct rte_mbuf *m, uint16_t messages);

/* By the upper MAC: what has been sent takes of the channels. */
void ds_messages_charge(struct ds_upper *u);
