/* SPDX-License-Identifier: BSD-3-Clause */
/* What other stages ask of `messages`. */
#pragma once

#include "downstream/downstream.h"

/* Ends a MAP that would come too late, or a part of one, in which so many messages end. */
void ds_message_late(struct ds_lower *l, struct rte_mbuf *m, uint16_t messages);

/* By the upper MAC: what has been sent takes of the channels. */
void ds_messages_charge(struct ds_upper *u);
