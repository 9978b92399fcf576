/* SPDX-License-Identifier: BSD-3-Clause */
/* Text that is written piece by piece, and leaves no keys in memory that it frees, as a stream of the C library would. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include <jansson.h>

/* Zeroed: empty. */
struct answer_text {
	char *text; /* ends with a 0 byte; NULL while nothing was written */
	size_t size, room; /* bytes */
	bool lost; /* there was no memory for something */
};

/* A json_dump_callback_t, whose last argument is a struct answer_text. */
int answer_text_write(const char *bytes, size_t size, void *to);

void answer_text_put(struct answer_text *a, const char *text);

/* Any value, without white space. */
void answer_text_json(struct answer_text *a, const json_t *json);

/* Returns all of it, for secret_free(), and is empty; NULL: it was empty, or something is lost. */
char *answer_text_take(struct answer_text *a);

void answer_text_free(struct answer_text *a);
