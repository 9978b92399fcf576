/* SPDX-License-Identifier: BSD-3-Clause */
/* Results for programs (JSON) and for people (tables). */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "directions/traffic.h"

struct groups;
struct follow;

/* What was measured; NULL for a direction that was off. */
struct summary_group {
	uint32_t id;
	const char *name;
	const struct traffic_result *downstream;
	const struct uplink_result *upstream;
};

struct summary {
	const struct traffic_result *downstream; /* of all service groups together */
	const struct uplink_result *upstream;
	bool send_only; /* nothing was received, nor is anything said about that */
	const struct summary_group *groups;
	unsigned group_count;
	const struct groups
		*measured; /* whose gaps and suspects are told in the file; NULL: none are */
	const struct follow *follow; /* likewise: whose changes; or NULL */
};

/* The objects under "downstream" and "upstream" in a summary. The caller owns them. NULL when memory
 * is short. */
json_t *summary_downstream(const struct traffic_result *r);
json_t *summary_upstream(const struct uplink_result *r);

/* Writes {"downstream": {..}, "upstream": {..}, "groups": [{"id", "name", "downstream", "upstream"}, ..]} to
 * the file at `path`. Returns 0, or -1 after a message on stderr. */
int summary_write(const char *path, const struct summary *s);

/* Prints a table a direction with what is wrong, if anything is, by name; and where there are several
 * service groups, a line for each. */
void summary_table(FILE *out, const struct summary *s);
