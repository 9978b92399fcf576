/* SPDX-License-Identifier: BSD-3-Clause */
/* Objects of a service group in blocks of memory of their own, with other references. */
#pragma once

#include "model/live/live_group.h"

/* What a reference to an object of another kind becomes. */
struct references {
	uint32_t (*become)(const void *context, enum live_object object, uint32_t reference);
	const void *context;
};

/* A copy with all that it has, in one block of exactly its size; NULL without memory. `to` NULL: references stay. */
void *object_copy(enum live_object object, const void *item, const struct references *to);

/* Are both the same in all values? Their memory was zeroed before it was filled. */
bool object_same(enum live_object object, const void *a, const void *b);
