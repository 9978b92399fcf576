/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds duplicate values in a large list by sorting: a hundred thousand take milliseconds. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/errors.h"
#include "model/tree.h"

#define UNIQUE_VALUE_SIZE 20

#define UNIQUE_LISTS 4

/* The path LISTS[0][i].LISTS[1][j] .. LEAF to a value; the first NULL in LISTS ends it. */
struct unique_path {
	const char *lists[UNIQUE_LISTS];
	const char *leaf; /* NULL: the list items are the values */
	const char *what; /* one value, such as "channel" */
};

struct unique_entry {
	uint8_t value[UNIQUE_VALUE_SIZE]; /* zero after the value's own bytes */
	uint32_t index[UNIQUE_LISTS];
	uint32_t order; /* order in which values were added */
	const struct unique_path *at;
	const struct node *node;
};

/* A set is ready if all but `at` is zero. Entries point to `at`, so the set must not move before
 * unique_finish(). */
struct unique_set {
	struct unique_path at; /* path of the values that unique_add() adds */
	struct unique_entry *entries;
	size_t count;
	size_t capacity;
	uint8_t failed; /* memory was short; unique_finish() reports it */
};

/* Adds `size` bytes, at most UNIQUE_VALUE_SIZE. `i` and `j` are the indices in the set's lists. */
void unique_add(struct unique_set *set, const void *value, size_t size, const struct node *node,
		size_t i, size_t j);

/* Adds a value with a path of its own; `at` must stay valid until unique_finish(). */
void unique_add_at(struct unique_set *set, const struct unique_path *at, const void *value,
		   size_t size, const struct node *node, const size_t index[UNIQUE_LISTS]);

/* Reports every value that equals an earlier one in the file, and empties the set. */
void unique_finish(struct unique_set *set, struct errors *errors);
