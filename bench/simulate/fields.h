/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reading JSON objects with bounds. The first mistake is kept in one line, all that is read after it
 * is left as it was: a reader asks once, at the end.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

#define FIELDS_MOST 32 /* keys of an object */

struct fields {
	const json_t *object;
	const char *asked[FIELDS_MOST]; /* keys of it */
	unsigned asked_count;
	char where[48]; /* in front of a key: "senders[2]." */
	char *error; /* empty: no mistake so far */
	size_t error_size;
};

/* What is no object is a mistake. */
void fields_open(struct fields *f, const json_t *object);

/* A key that was not asked for since is a mistake. It goes before others of the object: these may follow from it. */
void fields_close(struct fields *f);

/* What is behind a key; NULL: nothing. */
const json_t *fields_value(struct fields *f, const char *key);

struct bounds {
	double least, most;
};

/* A number, times `scale`; `out` stays as it is where there is no such key. */
void fields_number(struct fields *f, const char *key, struct bounds b, double scale, uint64_t *out);
void fields_number32(struct fields *f, const char *key, struct bounds b, uint32_t *out);

/* One of `names`, which NULL ends: its index. */
void fields_choice(struct fields *f, const char *key, const char *const *names, unsigned *out);

void fields_text(struct fields *f, const char *key, char *out, size_t size);

/* The array of that name with at most `most` entries, its length in `count`. */
const json_t *fields_array(struct fields *f, const char *key, size_t most, uint32_t *count);

void fields_mistake(struct fields *f, const char *key, const char *what);
