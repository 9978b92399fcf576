/* SPDX-License-Identifier: BSD-3-Clause */
/* Results for programs (JSON) and for people (tables). */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "traffic.h"

/* What was measured; NULL for a direction that was off. */
struct summary {
	const struct traffic_result *downstream;
	const struct uplink_result *upstream;
	bool send_only; /* nothing was received, nor is anything said about that */
};

/* The objects under "downstream" and "upstream" in a summary. The caller owns them. NULL when memory
 * is short. */
json_t *summary_downstream(const struct traffic_result *r);
json_t *summary_upstream(const struct uplink_result *r);

/* Writes {"downstream": {..}, "upstream": {..}} to the file at `path`. Returns 0, or -1 after a
 * message on stderr. */
int summary_write(const char *path, const struct summary *s);

/* Prints a table a direction with what is wrong, if anything is, by name. */
void summary_table(FILE *out, const struct summary *s);
