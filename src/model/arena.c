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
	size_t room;
	size_t next_room;
};

struct arena *arena_new(void) {
	struct arena *arena = calloc(1, sizeof(*arena));

	if (arena != NULL)
		arena->next_room = FIRST_CHUNK;
	return arena;
}

static struct chunk *chunk_new(size_t room) {
	struct chunk *chunk = NULL;

	if (room <= SIZE_MAX - sizeof(*chunk))
		chunk = calloc(1, sizeof(*chunk) + room);
	return chunk;
}

/* Gives a large object its own chunk before the last one, whose rest stays usable. */
static void *take_large(struct arena *arena, size_t size) {
	struct chunk *chunk = chunk_new(size);

	if (chunk == NULL)
		return NULL;
	chunk->previous = arena->last->previous;
	arena->last->previous = chunk;
	return chunk->bytes;
}

static void *take(struct arena *arena, size_t size) {
	if (size > arena->room - arena->used) {
		size_t room = size > arena->next_room ? size : arena->next_room;
		struct chunk *chunk;

		if (arena->last != NULL && size >= FIRST_CHUNK)
			return take_large(arena, size);
		chunk = chunk_new(room);
		if (chunk == NULL)
			return NULL;
		chunk->previous = arena->last;
		arena->last = chunk;
		arena->used = 0;
		arena->room = room;
		if (arena->next_room < LARGEST_CHUNK)
			arena->next_room *= 2;
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
		arena->used = gap > arena->room - arena->used ? arena->room : arena->used + gap;
	}
	return take(arena, bytes > 0 ? bytes : 1);
}

char *arena_text(struct arena *arena, const char *text, size_t length) {
	char *copy = length < SIZE_MAX ? take(arena, length + 1) : NULL;

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
