/* SPDX-License-Identifier: BSD-3-Clause */
/* A binary heap: entries with a key, the lowest key first. */
#include "access/due.h"

#include <stdlib.h>

bool due_reserve(struct due *d, uint32_t capacity) {
	struct due_entry *heap;

	if (capacity <= d->capacity)
		return true;
	heap = reallocarray(d->heap, capacity, sizeof(*heap));
	if (heap == NULL)
		return false;
	d->heap = heap;
	d->capacity = capacity;
	return true;
}

void due_free(struct due *d) {
	free(d->heap);
	*d = (struct due){0};
}

/* A total order: entries with equal keys are popped by their numbers, so that runs are reproducible. */
static bool before(const struct due_entry *a, const struct due_entry *b) {
	return a->key != b->key ? a->key < b->key : a->number < b->number;
}

void due_add(struct due *d, uint64_t key, uint32_t number) {
	struct due_entry entry = {key, number};
	uint32_t at = d->count++;

	for (; at > 0 && before(&entry, &d->heap[(at - 1) / 2]); at = (at - 1) / 2)
		d->heap[at] = d->heap[(at - 1) / 2];
	d->heap[at] = entry;
}

struct due_entry due_pop(struct due *d) {
	struct due_entry first = d->heap[0], last = d->heap[--d->count];
	uint32_t at = 0;

	for (;;) {
		uint32_t child = 2 * at + 1;

		if (child + 1 < d->count && before(&d->heap[child + 1], &d->heap[child]))
			child++;
		if (child >= d->count || !before(&d->heap[child], &last))
			break;
		d->heap[at] = d->heap[child];
		at = child;
	}
	d->heap[at] = last;
	return first;
}

void due_remove(struct due *d, uint32_t number) {
	uint32_t count = d->count, kept = 0;

	d->count = 0;
	for (uint32_t i = 0; i < count; i++)
		if (d->heap[i].number != number)
			d->heap[kept++] = d->heap[i];
	/* The new heap grows in the same array: due_add() writes no entry after i, which was just read. */
	for (uint32_t i = 0; i < kept; i++)
		due_add(d, d->heap[i].key, d->heap[i].number);
}
