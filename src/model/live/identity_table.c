/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/live/identity_table.h"

#include <string.h>

/* The table has at least a third more entries than keys, so that chains are short and end. */
bool identity_table_new(struct identity_table *t, struct arena *arena, uint32_t max,
			uint32_t words) {
	t->size = max + max / 3 + 8;
	t->words = words;
	t->keys = arena_alloc(arena, (size_t)t->size * words, sizeof(t->keys[0]));
	t->slots = arena_alloc(arena, t->size, sizeof(t->slots[0]));
	return t->keys != NULL && t->slots != NULL;
}

/* The entry where the chain of a key begins. */
static uint32_t chain_of(const struct identity_table *t, const uint64_t *key) {
	uint64_t hash = key[0] * UINT64_C(0x9e3779b97f4a7c15);

	if (t->words == 2)
		hash = (hash ^ hash >> 32 ^ key[1]) * UINT64_C(0xd6e8feb86659fd93);
	hash ^= hash >> 32;
	hash *= UINT64_C(0xd6e8feb86659fd93);
	return (uint32_t)((hash >> 32) * t->size >> 32);
}

static uint32_t after(const struct identity_table *t, uint32_t i) {
	return i + 1 < t->size ? i + 1 : 0;
}

static const uint64_t *key_at(const struct identity_table *t, uint32_t i) {
	return &t->keys[(size_t)i * t->words];
}

static bool is_empty(const struct identity_table *t, uint32_t i) {
	const uint64_t *key = key_at(t, i);

	return key[0] == 0 && (t->words == 1 || key[1] == 0);
}

uint32_t *identity_table_find(const struct identity_table *t, const uint64_t *key) {
	uint32_t i = chain_of(t, key);

	for (; !is_empty(t, i); i = after(t, i)) {
		if (memcmp(key_at(t, i), key, t->words * sizeof(*key)) == 0)
			return &t->slots[i];
	}
	return NULL;
}

static void put(struct identity_table *t, uint32_t i, const uint64_t *key, uint32_t slot) {
	memcpy(&t->keys[(size_t)i * t->words], key, t->words * sizeof(*key));
	t->slots[i] = slot;
}

void identity_table_add(struct identity_table *t, const uint64_t *key, uint32_t slot) {
	uint32_t i = chain_of(t, key);

	while (!is_empty(t, i))
		i = after(t, i);
	put(t, i, key, slot);
}

/* Moves later entries of the chain into the gap, unless their chain begins after it. */
void identity_table_remove(struct identity_table *t, uint32_t *slot) {
	static const uint64_t nothing[2];
	uint32_t gap = (uint32_t)(slot - t->slots);

	for (uint32_t i = after(t, gap); !is_empty(t, i); i = after(t, i)) {
		uint32_t chain = chain_of(t, key_at(t, i));
		bool stays = gap < i ? chain > gap && chain <= i : chain > gap || chain <= i;

		if (stays)
			continue;
		put(t, gap, key_at(t, i), t->slots[i]);
		gap = i;
	}
	put(t, gap, nothing, 0);
}
