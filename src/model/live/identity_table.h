/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table of fixed size that maps keys of one or two words to slots. Open addressing; a
 * removal leaves no gap. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/arena.h"

#define IDENTITY_NONE UINT32_MAX

struct identity_table {
	uint64_t *keys; /* `words` each; all 0: the entry is empty */
	uint32_t *slots;
	uint32_t size;
	uint32_t words;
};

/* Allocates a table for at most `max` keys in the arena. Returns false if memory is short. */
bool identity_table_new(struct identity_table *t, struct arena *arena, uint32_t max,
			uint32_t words);

/* The slot of a key, which may be written; NULL if the key is not in the table. */
uint32_t *identity_table_find(const struct identity_table *t, const uint64_t *key);

/* Adds a key that is not in the table. The caller does not exceed `max`. */
void identity_table_add(struct identity_table *t, const uint64_t *key, uint32_t slot);

/* Removes a key that is in the table; `slot` is the address of its slot. */
void identity_table_remove(struct identity_table *t, uint32_t *slot);
