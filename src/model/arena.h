/* SPDX-License-Identifier: BSD-3-Clause */
/* An arena: memory that is allocated in pieces and freed at once, for a loaded service group or its
 * YAML tree. */
#pragma once

#include <stddef.h>

struct arena;

/* Creates an empty arena; NULL if memory is short. */
struct arena *arena_new(void);

/* Allocates `count` zeroed objects of `size` bytes, aligned for any type; NULL if memory is short
 * or on overflow. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/* Copies `length` bytes and appends a NUL; NULL if memory is short. */
char *arena_text(struct arena *arena, const char *text, size_t length);

/* Frees the arena and everything allocated from it. `arena` may be NULL. */
void arena_free(struct arena *arena);
