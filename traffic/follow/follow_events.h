/* SPDX-License-Identifier: BSD-3-Clause */
/* Events of the control socket, and what of them the groups take note of. */
#pragma once

#include "follow/follow.h"

/* A message of the server: a notification, or the answer to the request that frames wait for. */
void follow_event(struct follow *f, const json_t *message);

/* The group of this id, as the traffic has it; NULL: there is none. */
struct follow_group *follow_find(struct follow *f, uint32_t id);
