/* SPDX-License-Identifier: BSD-3-Clause */
/* Bytes of a fuzzer as several texts, with lines of "%%%" between them. */
#pragma once

#include <stddef.h>
#include <string.h>

#define BORDER "\n%%%\n"

struct text {
	const char *bytes;
	size_t size;
};

/* Takes the text before the next border off `rest`. */
static inline struct text next_part(struct text *rest) {
	const char *border =
		rest->size > 0 ? memmem(rest->bytes, rest->size, BORDER, strlen(BORDER)) : NULL;
	struct text part = *rest;
	size_t behind;

	if (border == NULL) {
		*rest = (struct text){0};
		return part;
	}
	part.size = (size_t)(border - rest->bytes) + 1;
	behind = part.size - 1 + strlen(BORDER);
	*rest = (struct text){rest->bytes + behind, rest->size - behind};
	return part;
}
