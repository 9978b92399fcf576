/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whose a packet of a shared port is, decided anew for each packet from the configuration of all groups, by
 * going through all of it: slow, and by no code of src/sharing.
 */
#pragma once

#include "share_kit.h"

/* -1 and the reason where the packet is nobody's. `*tag` tells whether a tag was taken off. */
int share_model(const struct share_kit *r, enum share_side side, const uint8_t *frame, size_t size,
		enum drop_reason *reason, bool *tag);

/* Whether two of the groups cannot be told apart. */
bool share_model_refuses(const struct share_kit *r, enum share_side side);
