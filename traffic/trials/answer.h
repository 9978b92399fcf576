/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program says that is asked by lines of JSON (docs/results.md, "Trials"). */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "trials/line_reader.h"

/* One line; takes over `answer`, which is NULL where memory was short. Returns 0, or -1 after a message. */
int answer_write(json_t *answer, FILE *out);

/* The answer to a request that is refused: `error` is one line of UTF-8. */
json_t *answer_refusal(const char *error);

/* Answers one line; the caller of answers_serve() has given `context`. */
typedef json_t *(*answer_fn)(void *context, const char *line, size_t size);

/* Says `ready`, which it takes over, and then answers each line until there are no more. Returns 0, or -1
 * after a message where an answer could not be written. */
int answers_serve(struct line_reader *reader, json_t *ready, answer_fn answer, void *context,
		  FILE *out);
