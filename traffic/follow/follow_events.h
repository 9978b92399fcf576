/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses events of the control socket and updates the groups. */
#pragma once

#include "follow/follow.h"

/* Processes a message of the server: an event, or the answer for which unresolved frames wait. */
void follow_event(struct follow *f, const json_t *message);

/* The group with this ID in the traffic; NULL: none. */
struct follow_group *follow_find(struct follow *f, uint32_t id);
