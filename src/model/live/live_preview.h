/* SPDX-License-Identifier: BSD-3-Clause */
/* A copy of a group in service as it will be after a change. */
#pragma once

#include "model/live/difference.h"

/*
 * `sg` is a shallow copy of the live group with its own lists of modems and upstream channels, by
 * slot. Only these lists show the change. The live group and the change own the memory to which the
 * items point, and must outlive the copy.
 */
struct live_preview {
	struct service_group sg;
};

/* Creates the copy and leaves the live group unchanged. Returns false if memory is short. The
 * caller calls live_preview_free() in either case. */
bool live_preview_create(struct live_preview *t, const struct live_group *l,
			 const struct live_changes *changes);

/* Wipes its keys and frees it. Accepts a zeroed struct. */
void live_preview_free(struct live_preview *t);
