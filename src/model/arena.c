/* SPDX-License-Identifier: BSD-3-Clause */
/* A bump allocator over zeroed chunks that grow with the arena. */
#include "model/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/secret/secret_memory.h"

#define FIRST_CHUNK (16u << 10)
#define LARGEST_CHUNK (4u << 20)

struct chunk {
	struct chunk *previous;
	alignas(max_align_t) char bytes[];
};

struct arena {
	struct chunk *last;
	size_t used; /* bytes of the last chunk */
	size_t capacity;
	size_t next_capacity;
};

struct arena *arena_new(void) {
	struct arena *arena = calloc(1, sizeof(*arena));

	if (arena != NULL)
		arena->next_capacity = FIRST_CHUNK;
	return arena;
}

static struct chunk *chunk_new(size_t capacity) {
	struct chunk *chunk = NULL;

	if (capacity <= SIZE_MAX - sizeof(*chunk))
		chunk = calloc(1, sizeof(*chunk) + capacity);
	return chunk;
}

/* Gives a large object its own chunk, linked before the last one, so that the rest of the last
 * chunk stays usable. */
static void *alloc_large(struct arena *arena, size_t size) {
	struct chunk *chunk = chunk_new(size);

	if (chunk == NULL)
		return NULL;
	chunk->previous = arena->last->previous;
	arena->last->previous = chunk;
	return chunk->bytes;
}

static void *alloc(struct arena *arena, size_t size) {
	if (size > arena->capacity - arena->used) {
		size_t capacity = size > arena->next_capacity ? size : arena->next_capacity;
		struct chunk *chunk;

		if (arena->last != NULL && size >= FIRST_CHUNK)
			return alloc_large(arena, size);
		chunk = chunk_new(capacity);
		if (chunk == NULL)
			return NULL;
		chunk->previous = arena->last;
		arena->last = chunk;
		arena->used = 0;
		arena->capacity = capacity;
		if (arena->next_capacity < LARGEST_CHUNK)
			arena->next_capacity *= 2;
	}
	arena->used += size;
	return arena->last->bytes + arena->used - size;
}

void *arena_alloc(struct arena *arena, size_t count, size_t size) {
	const size_t alignment = alignof(max_align_t);
	size_t bytes;

	if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX - alignment)
		return NULL;
	if (arena->used % alignment != 0) {
		size_t gap = alignment - arena->used % alignment;

		/* a chunk that cannot hold the gap cannot hold the object either */
		arena->used =
			gap > arena->capacity - arena->used ? arena->capacity : arena->used + gap;
	}
	return alloc(arena, bytes > 0 ? bytes : 1);
}

char *arena_text(struct arena *arena, const char *text, size_t length) {
	char *copy = length < SIZE_MAX ? alloc(arena, length + 1) : NULL;

	if (copy != NULL) {
		memcpy(copy, text, length);
		copy[length] = '\0';
	}
	return copy;
}

void arena_free(struct arena *arena) {
	if (arena == NULL)
		return;
	for (struct chunk *chunk = arena->last; chunk != NULL;) {
		struct chunk *previous = chunk->previous;

		secret_free(chunk);
		chunk = previous;
	}
	free(arena);
}
