/* SPDX-License-Identifier: BSD-3-Clause */
/* Finds duplicate values in a large list by sorting: a hundred thousand take milliseconds. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/errors.h"
#include "model/tree.h"

#define UNIQUE_VALUE_SIZE 20

#define UNIQUE_LISTS 4

/* The path of values: LISTS[0][i].LISTS[1][j] .. LEAF; the first NULL ends the lists. */
struct unique_path {
	const char *lists[UNIQUE_LISTS];
	const char *leaf; /* NULL: the items themselves */
};

struct unique_entry {
	uint8_t value[UNIQUE_VALUE_SIZE]; /* zero past the value's own bytes */
	uint32_t index[UNIQUE_LISTS];
	uint32_t order; /* order in which values were added */
	const struct unique_path *at;
	const struct node *node;
};

/* A zeroed set with its `at` is ready for use. It must not move before unique_finish(). */
struct unique_set {
	struct unique_path at; /* of values that unique_add() adds */
	struct unique_entry *entries;
	size_t count;
	size_t capacity;
	uint8_t failed; /* memory is short; reported by unique_finish() */
};

void unique_add(struct unique_set *set, const void *value, size_t size, const struct node *node,
		size_t i, size_t j);

/* The same for a value with another path; `at` is static. */
void unique_add_at(struct unique_set *set, const struct unique_path *at, const void *value,
		   size_t size, const struct node *node, const size_t index[UNIQUE_LISTS]);

/* Reports every occurrence of a value after its first one in the file, and empties the set. */
void unique_finish(struct unique_set *set, struct errors *errors);
