/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of the stage `messages` for other stages. */
#pragma once

#include "downstream/downstream.h"

/* Drops a late MAP, or a part of one, in which `messages` messages end. */
void ds_message_late(struct ds_lower *l, struct rte_mbuf *m, uint16_t messages);

/* Charges sent messages to the channels' rates. Called by the upper MAC. */
void ds_messages_charge(struct ds_upper *u);
