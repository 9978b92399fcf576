/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds values that occur twice in a large list, by sorting: a hundred thousand cost milliseconds. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/errors.h"
#include "model/tree.h"

#define UNIQUE_VALUE_SIZE 20

/* Where a set's values stand: LIST[i].INNER[j].LEAF; `inner` and `leaf` may be NULL. */
struct unique_place {
	const char *list;
	const char *inner;
	const char *leaf;
};

struct unique_entry {
	uint8_t value[UNIQUE_VALUE_SIZE]; /* zero past the value's own bytes */
	uint32_t i, j;
	const struct node *node;
};

/* A zeroed set with its place is ready for use. */
struct unique_set {
	struct unique_place place;
	struct unique_entry *entries;
	size_t count;
	size_t room;
	uint8_t failed; /* no memory; reported by unique_finish() */
};

void unique_add(struct unique_set *set, const void *value, size_t size, const struct node *node,
		size_t i, size_t j);

/* Reports every occurrence of a value after the first, and empties the set. */
void unique_finish(struct unique_set *set, struct errors *errors);
