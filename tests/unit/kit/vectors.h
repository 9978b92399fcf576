/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads the files of tests/vectors: one message per line, `name: hex bytes`. The build defines VECTORS_DIR. */
#pragma once

#include <ctype.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

struct vector {
	char name[64];
	uint8_t bytes[2048];
	size_t size;
};

static inline FILE *vectors_open(const char *file) {
	char path[512];

	snprintf(path, sizeof(path), "%s/%s", VECTORS_DIR, file);

	FILE *f = fopen(path, "r");

	if (f == NULL)
		fail_msg("cannot open the vector file %s", path);
	return f;
}

static inline void vector_read_hex(const char *text, struct vector *out) {
	for (out->size = 0; *(text += strspn(text, " \n")) != '\0'; text += 2) {
		if (out->size == sizeof(out->bytes) || !isxdigit((unsigned char)text[1]) ||
		    sscanf(text, "%2hhx", &out->bytes[out->size++]) != 1)
			fail_msg("vector %s: more than 2048 bytes, or not pairs of hex digits",
				 out->name);
	}
}

/* Reads the next message of the file; false at its end. */
static inline bool vector_next(FILE *f, struct vector *out) {
	char line[8192];

	while (fgets(line, sizeof(line), f) != NULL) {
		if (line[0] == '#' || line[0] == '\n')
			continue;

		char *colon = strchr(line, ':');

		if (colon == NULL || colon - line >= (ptrdiff_t)sizeof(out->name))
			fail_msg("vector without `name:` of at most 63 characters: %s", line);
		snprintf(out->name, sizeof(out->name), "%.*s", (int)(colon - line), line);
		vector_read_hex(colon + 1, out);
		return true;
	}
	return false;
}

/* Reads the message of that name; asserts that the file has it. */
static inline void vector_get(const char *file, const char *name, struct vector *out) {
	FILE *f = vectors_open(file);
	bool found = false;

	while (!found && vector_next(f, out))
		found = strcmp(out->name, name) == 0;
	fclose(f);
	if (!found)
		fail_msg("no vector %s in %s", name, file);
}
