/* SPDX-License-Identifier: BSD-3-Clause */
/* A result for programs (JSON) and for people (a table). */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "traffic.h"

/* The object under "downstream" in a summary. The caller owns it. NULL when memory is short. */
json_t *summary_json(const struct traffic_result *r);

/* Writes {"downstream": {..}} to the file at `path`. Returns 0, or -1 after a message on stderr. */
int summary_write(const char *path, const struct traffic_result *r);

/* Prints a table with what is wrong, if anything is, by name. */
void summary_table(FILE *out, const struct traffic_result *r);
