/* SPDX-License-Identifier: BSD-3-Clause */
/* Reference model of docs/sharing.md: finds the group of a packet of a shared port by a search of the configuration of
 * all groups. It shares no code with src/sharing. */
#pragma once

#include "share_kit.h"

/* Returns the index of the packet's group, or -1 with the drop reason. `*tag`: whether the port owner removes its VLAN
 * tag. `size` is at most RIG_FRAME_SIZE. */
int share_model_group(const struct share_rig *r, enum share_side side, const uint8_t *frame,
		      size_t size, enum drop_reason *reason, bool *tag);

/* Whether the port has two groups whose packets cannot be distinguished on this side, so that share_create() must
 * refuse them. */
bool share_model_conflicts(const struct share_rig *r, enum share_side side);
