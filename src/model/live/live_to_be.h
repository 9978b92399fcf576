/* SPDX-License-Identifier: BSD-3-Clause */
/* A group in service as it will be once a difference is applied. */
#pragma once

#include "model/live/difference.h"

/* `sg` is a shallow copy of the live group with lists of its own for modems and upstream channels,
 * by slot. The live group and the difference own what the items point to, and must outlive it. */
struct live_to_be {
	struct service_group sg;
};

/* Creates it without changing the live group. Returns false if memory is short. The caller calls
 * live_to_be_free() in either case. */
bool live_to_be_make(struct live_to_be *t, const struct live_group *l,
		     const struct live_changes *changes);

/* Wipes its keys and frees it. Accepts a zeroed struct. */
void live_to_be_free(struct live_to_be *t);
