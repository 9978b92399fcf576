/* SPDX-License-Identifier: BSD-3-Clause */
/* A priority queue: binary heap of numbers by key. The caller reserves capacity; due_add() does not grow it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct due_entry {
	uint64_t key; /* a time or a count of opportunities, as the caller chooses */
	uint32_t number; /* the caller's index of what is due */
};

struct due {
	struct due_entry *heap;
	uint32_t count, capacity;
};

/* Sets the capacity to `capacity` entries and keeps existing entries. Returns false if memory is short. */
bool due_reserve(struct due *d, uint32_t capacity);
void due_free(struct due *d);

/* Adds an entry; the queue must not be full. */
void due_add(struct due *d, uint64_t key, uint32_t number);

/* The lowest key; UINT64_MAX if empty. */
static inline uint64_t due_next(const struct due *d) {
	return d->count == 0 ? UINT64_MAX : d->heap[0].key;
}

/* Removes and returns the entry with the lowest key; the queue must not be empty. */
struct due_entry due_pop(struct due *d);

/* Removes all entries with this number. O(entries). */
void due_remove(struct due *d, uint32_t number);
