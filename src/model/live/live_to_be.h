/* SPDX-License-Identifier: BSD-3-Clause */
/* What a group in service will be once a difference has taken effect, known before it does. */
#pragma once

#include "model/live/difference.h"

/* `sg` is a shallow copy of the live group with lists of its own for modems and upstream channels, by slot. What the
 * items point to belongs to the live group and to the difference, which must outlive it. */
struct live_to_be {
	struct service_group sg;
};

/* Makes it without changing the live group. Returns false when memory is short. To be given to live_to_be_free() in
 * either case. */
bool live_to_be_make(struct live_to_be *t, const struct live_group *l,
		     const struct live_changes *changes);

/* Wipes the keys in it and frees it. Harmless on a zeroed struct. */
void live_to_be_free(struct live_to_be *t);
