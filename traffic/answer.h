/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program says that is asked by lines of JSON (docs/results.md, "Trials"). */
#pragma once

#include <stdio.h>

#include <jansson.h>

/* One line; takes over `answer`, which is NULL where memory was short. Returns 0, or -1 after a message. */
int answer_write(json_t *answer, FILE *out);

/* The answer to a request that is refused: `error` is one line of UTF-8. */
json_t *answer_refusal(const char *error);
