/* SPDX-License-Identifier: BSD-3-Clause */
/* Splits the input of a fuzz target into texts, at lines of "%%%". */
#pragma once

#include <stddef.h>
#include <string.h>

#define SEPARATOR "\n%%%\n"

struct text {
	const char *bytes;
	size_t size;
};

/* Removes the text before the next separator from `remaining` and returns it, with its last newline. `bytes` is NULL
 * if nothing remained. */
static inline struct text next_part(struct text *remaining) {
	const char *separator = remaining->size > 0 ? memmem(remaining->bytes, remaining->size,
							     SEPARATOR, strlen(SEPARATOR))
						    : NULL;
	struct text part = *remaining;
	size_t end;

	if (separator == NULL) {
		*remaining = (struct text){0};
		return part;
	}
	part.size = (size_t)(separator - remaining->bytes) + 1;
	end = part.size - 1 + strlen(SEPARATOR);
	*remaining = (struct text){remaining->bytes + end, remaining->size - end};
	return part;
}
