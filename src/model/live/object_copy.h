/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies objects of a service group into memory blocks of their own, with other references. */
#pragma once

#include "model/live/live_group.h"

/* Converts a reference to an object of another kind. */
struct references {
	uint32_t (*translate)(const void *context, enum live_object object, uint32_t reference);
	const void *context;
};

/* Copies an object with all its lists into one block of exactly that size. `to` converts its
 * references; NULL: they stay. Returns NULL if memory is short. */
void *object_copy(enum live_object object, const void *item, const struct references *to);

/* Whether both are equal in all values. Their memory must have been zeroed before it was filled. */
bool object_same(enum live_object object, const void *a, const void *b);
