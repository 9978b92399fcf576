/* SPDX-License-Identifier: BSD-3-Clause */
/* What is due first: a binary heap of numbers by their keys, in memory of a fixed size. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct due_entry {
	uint64_t key;
	uint32_t what;
};

struct due {
	struct due_entry *heap;
	uint32_t count, room;
};

/* Room for `room` entries; more than before keeps those that are in it. Returns false where memory is short. */
bool due_reserve(struct due *d, uint32_t room);
void due_free(struct due *d);

/* Puts one in; there must be room. */
void due_add(struct due *d, uint64_t key, uint32_t what);

/* The least key; UINT64_MAX where it is empty. */
static inline uint64_t due_next(const struct due *d) {
	return d->count == 0 ? UINT64_MAX : d->heap[0].key;
}

/* Takes out the entry with the least key; there must be one. */
struct due_entry due_take(struct due *d);

/* Takes out all entries of a number. O(entries). */
void due_remove(struct due *d, uint32_t what);
