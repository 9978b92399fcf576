/* SPDX-License-Identifier: BSD-3-Clause */
#include "capture/live/ring.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Header of an entry: its bytes, or SKIP_TO_START where the ring is empty up to its end. */
struct entry {
	uint32_t size;
	uint32_t unused;
};

#define SKIP_TO_START UINT32_MAX

/* Bytes of an entry of `size` bytes with its header, a multiple of 8. */
static uint32_t whole(uint32_t size) {
	return (uint32_t)sizeof(struct entry) + ((size + 7) & ~7u);
}

int tap_ring_create(struct tap_ring *r, uint32_t size) {
	*r = (struct tap_ring){.bytes = aligned_alloc(TAP_RING_LINE, size), .size = size};
	if (r->bytes == NULL)
		return -1;
	memset(r->bytes, 0, size); /* touches all pages, so that no worker takes a page fault */
	return 0;
}

void tap_ring_free(struct tap_ring *r) {
	free(r->bytes);
	r->bytes = NULL;
}

static struct entry *entry_at(const struct tap_ring *r, uint64_t position) {
	return (struct entry *)(r->bytes + (position & (r->size - 1)));
}

void *tap_ring_reserve(struct tap_ring *r, uint32_t size) {
	uint64_t tail = __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE), head = r->head;
	uint32_t to_end = r->size - (uint32_t)(head & (r->size - 1)), need;
	struct entry *e;

	if (size > tap_ring_max(r))
		return NULL;
	need = whole(size);
	if (need > to_end) {
		if (head + to_end + need - tail > r->size)
			return NULL;
		entry_at(r, head)->size = SKIP_TO_START;
		head += to_end;
	} else if (head + need - tail > r->size) {
		return NULL;
	}
	e = entry_at(r, head);
	e->size = size;
	r->reserved = head + need;
	return e + 1;
}

void tap_ring_put(struct tap_ring *r) {
	__atomic_store_n(&r->head, r->reserved, __ATOMIC_RELEASE);
}

/* Position of the oldest entry; the head where the ring is empty. */
static uint64_t first_position(const struct tap_ring *r, uint64_t head) {
	uint64_t position = r->tail;

	if (position != head && entry_at(r, position)->size == SKIP_TO_START)
		position += r->size - (position & (r->size - 1));
	return position;
}

const void *tap_ring_first(const struct tap_ring *r, uint32_t *size) {
	uint64_t head = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE),
		 position = first_position(r, head);

	if (position == head)
		return NULL;
	*size = entry_at(r, position)->size;
	return entry_at(r, position) + 1;
}

void tap_ring_pop(struct tap_ring *r) {
	uint64_t head = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE),
		 position = first_position(r, head);

	if (position != head)
		__atomic_store_n(&r->tail, position + whole(entry_at(r, position)->size),
				 __ATOMIC_RELEASE);
}
