/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is taken in pieces and given back at once: a loaded service group and its YAML tree. */
#pragma once

#include <stddef.h>

struct arena;

/* An empty arena, or NULL without memory. */
struct arena *arena_new(void);

/* `count` zeroed objects of `size` bytes, aligned for any type; NULL without memory or on overflow. */
void *arena_alloc(struct arena *arena, size_t count, size_t size);

/* A copy of `length` bytes with a NUL behind them; NULL without memory. */
char *arena_text(struct arena *arena, const char *text, size_t length);

/* Frees the arena and all that came from it. NULL is harmless. */
void arena_free(struct arena *arena);
