/* SPDX-License-Identifier: BSD-3-Clause */
/* Reference model: finds the group of a packet of a shared port by a search of the configuration of
 * all groups. It shares no code with src/sharing. */
#pragma once

#include "share_kit.h"

/* Returns the packet's group, or -1 with the reason. Sets `*tag` if its tag is removed. */
int share_model_group(const struct share_rig *r, enum share_side side, const uint8_t *frame,
		      size_t size, enum drop_reason *reason, bool *tag);

/* Whether two groups conflict: their packets cannot be distinguished. */
bool share_model_conflicts(const struct share_rig *r, enum share_side side);
