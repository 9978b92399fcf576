/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes results as JSON and prints them as tables. */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "directions/traffic.h"

struct groups;
struct follow;

/* Results of a group; NULL for a direction that was off. */
struct summary_group {
	uint32_t id;
	const char *name;
	const struct traffic_result *downstream;
	const struct uplink_result *upstream;
};

struct summary {
	const struct traffic_result *downstream; /* of all service groups together */
	const struct uplink_result *upstream;
	bool send_only; /* nothing was received, so received packets are not reported */
	const struct summary_group *groups;
	unsigned group_count;
	const struct groups *measured; /* reports their gaps and suspects in the file; or NULL */
	const struct follow *follow; /* reports its changes; or NULL */
};

/* Build the objects "downstream" and "upstream" of a summary. The caller owns them. Return NULL if
 * memory is short. */
json_t *summary_downstream(const struct traffic_result *r);
json_t *summary_upstream(const struct uplink_result *r);

/* Writes {"downstream": {..}, "upstream": {..}, "groups": [{"id", "name", "downstream", "upstream"}, ..]},
 * and "gaps" and "follow" if requested, to the file at `path`. Returns 0, or -1 after a message on stderr. */
int summary_write(const char *path, const struct summary *s);

/* Prints a table per direction, with violations by name, and a line per service group if there are
 * several. */
void summary_table(FILE *out, const struct summary *s);

/* Prints a line that begins with PASS if the run is `good`, else with FAIL, and has the reasons. For runs that receive. */
void summary_verdict(FILE *out, const struct summary *s, bool good);
