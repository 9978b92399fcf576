/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads JSON objects with bounds. Keeps the first mistake as one line; values after it are not
 * read. The reader checks for a mistake once, at the end. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define FIELDS_MAX 32 /* maximum keys of an object */

struct fields {
	const json_t *object;
	const char *used[FIELDS_MAX]; /* keys read so far */
	unsigned used_count;
	char where[48]; /* prefix of keys: "senders[2]." */
	char *error; /* empty: no mistake so far */
	size_t error_size;
};

/* Starts reading; a value that is not an object is a mistake. */
void fields_open(struct fields *f, const json_t *object);

/* Reports keys that were not read as a mistake. It replaces other mistakes of the object, which may
 * be caused by it. */
void fields_close(struct fields *f);

/* The value of a key; NULL: none. */
const json_t *fields_value(struct fields *f, const char *key);

struct bounds {
	double min, max;
};

/* Reads a number, times `scale`; without the key `out` is unchanged. */
void fields_number(struct fields *f, const char *key, struct bounds b, double scale, uint64_t *out);
void fields_number32(struct fields *f, const char *key, struct bounds b, uint32_t *out);

/* Reads one of `names`, terminated by NULL, as an index. */
void fields_choice(struct fields *f, const char *key, const char *const *names, unsigned *out);

void fields_text(struct fields *f, const char *key, char *out, size_t size);

/* The array of that name with at most `max` entries; `count` gets its length. */
const json_t *fields_array(struct fields *f, const char *key, size_t max, uint32_t *count);

void fields_mistake(struct fields *f, const char *key, const char *what);
