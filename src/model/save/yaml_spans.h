/* SPDX-License-Identifier: BSD-3-Clause */
/* Positions of the upper nodes of a YAML text, for changes of the text that keep the rest. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/arena.h"

enum span_type { SPAN_SCALAR, SPAN_LIST, SPAN_MAP, SPAN_ALIAS };

/* A node. Nodes deeper than SPANS_DEPTH have no spans of their own. */
struct span {
	enum span_type type;
	bool flow; /* list or map in brackets */
	size_t start,
		end; /* in bytes of the text; without the dash before it and comments after it */
	const char *text; /* of a scalar */
	struct span *first, *next; /* children of a list; of a map: key, value, key, value .. */
};

/* A server's file: map, service_groups, item, modems, item. */
#define SPANS_DEPTH 5

/* Reads the document in `size` bytes of UTF-8 at `text`. The arena owns the result. NULL if it is no
 * YAML, or memory is short. */
struct span *yaml_spans(struct arena *arena, const char *text, size_t size);

/* The value of a key in a map; NULL if `map` is NULL, no map, or has no such key. */
struct span *span_value(const struct span *map, const char *key);

/* The item of a list; NULL if there are fewer. */
struct span *span_item(const struct span *list, size_t index);

/* The number of children of a list. */
size_t span_count(const struct span *list);
