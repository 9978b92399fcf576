/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table of fixed size: keys of one or two words to places. Open addressing, without gaps. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/arena.h"

#define IDENTITY_NONE UINT32_MAX

struct identity_table {
	uint64_t *keys; /* `words` each; all 0: nothing is here */
	uint32_t *places;
	uint32_t size;
	uint32_t words;
};

/* With room for `most` keys, in memory of the arena. False without memory. */
bool identity_table_new(struct identity_table *t, struct arena *arena, uint32_t most,
			uint32_t words);

/* The place of a key, which may be written; NULL where it is not in the table. */
uint32_t *identity_table_find(const struct identity_table *t, const uint64_t *key);

/* A key that is not in it. There is room. */
void identity_table_add(struct identity_table *t, const uint64_t *key, uint32_t place);

/* A key that is in it, with the place of which `place` is the address. */
void identity_table_remove(struct identity_table *t, uint32_t *place);
