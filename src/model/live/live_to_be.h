/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy of a group in service as it will be after a change. */
#pragma once

#include "model/live/difference.h"

/*
 * `sg` is a shallow copy of the live group with its own lists of modems and upstream channels, by
 * slot. Only these lists show the change. The live group and the change own the memory to which the
 * items point, and must outlive the copy.
 */
struct live_to_be {
	struct service_group sg;
};

/* Creates the copy and leaves the live group unchanged. Returns false if memory is short. The
 * caller calls live_to_be_free() in either case. */
bool live_to_be_make(struct live_to_be *t, const struct live_group *l,
		     const struct live_changes *changes);

/* Wipes its keys and frees it. Accepts a zeroed struct. */
void live_to_be_free(struct live_to_be *t);
