/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads JSON objects with bounds. Keeps the first mistake as one line and ignores later ones. The reader
 * checks `error` once, at the end; after a mistake it must not use the values. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define FIELDS_MAX 32 /* maximum keys that the reader of an object knows */

struct fields {
	const json_t *object;
	const char *used[FIELDS_MAX]; /* keys read so far */
	unsigned used_count;
	char where[48]; /* prefix of keys in messages: "senders[2]."; empty at the top */
	char *error; /* `error_size` bytes of the caller; empty: no mistake so far */
	size_t error_size;
};

/* Starts reading `object`. The caller has set `where`, `error` and `error_size`, or copied them from the
 * parent. A value that is not an object, or NULL, is a mistake. */
void fields_open(struct fields *f, const json_t *object);

/* A key that was never read is a mistake. It replaces mistakes of the object and its members, as a misspelt
 * key may have caused them. */
void fields_close(struct fields *f);

/* The value of a key; NULL: none. */
const json_t *fields_value(struct fields *f, const char *key);

struct bounds {
	double min, max;
};

/* Reads a number in `b` and stores it times `scale`, rounded. Without the key, or after a mistake, `out` is
 * unchanged, here and below. */
void fields_number(struct fields *f, const char *key, struct bounds b, double scale, uint64_t *out);
void fields_number32(struct fields *f, const char *key, struct bounds b, uint32_t *out);

/* Reads one of `names`, terminated by NULL, as an index. */
void fields_choice(struct fields *f, const char *key, const char *const *names, unsigned *out);

/* Reads a text of fewer than `size` bytes. */
void fields_text(struct fields *f, const char *key, char *out, size_t size);

/* The array of that name with at most `max` entries; `count` gets its length. Without the key, or after a
 * mistake, NULL and 0. */
const json_t *fields_array(struct fields *f, const char *key, size_t max, uint32_t *count);

/* Keeps the mistake `what` of a key, unless there is an earlier one. */
void fields_mistake(struct fields *f, const char *key, const char *what);
