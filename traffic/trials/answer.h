/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes answers to requests of one line of JSON (docs/results.md, "Trials"). */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "trials/line_reader.h"

/* Writes one line; takes ownership of `answer`, which is NULL if memory was short. Returns 0, or -1
 * after a message. */
int answer_write(json_t *answer, FILE *out);

/* Replaces bytes of an error message that are not valid UTF-8, such as a truncated character: JSON does not
 * allow them. */
void answer_error_repair(char *error);

/* The answer to a rejected request; `error` is one line of UTF-8. */
json_t *answer_refusal(const char *error);

/* Answers a line of `size` bytes; `context` is that of answers_serve(). The caller owns the answer; NULL:
 * memory was short. */
typedef json_t *(*answer_fn)(void *context, const char *line, size_t size);

/* Writes `ready`, whose ownership it takes, then answers each line until the end of the input.
 * Returns 0, or -1 after a message if an answer cannot be written. */
int answers_serve(struct line_reader *reader, json_t *ready, answer_fn answer, void *context,
		  FILE *out);
