/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Which directions there are, and which worker runs what: the workers are the cores that groups name in
 * `threads`, in the order in which they are named first.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/server_config.h"
#include "platform/platform.h"

#define LAYOUT_GROUP_WORKERS 3 /* that one group may have: upper MAC, lower MAC, upstream */

struct layout {
	unsigned cores[PLATFORM_MAX_WORKERS]; /* of the workers */
	unsigned worker_count;
	/* The workers of each group; those of the MACs may be the same. */
	struct layout_group {
		unsigned upper, lower;
		unsigned upstream; /* of no meaning without an upstream */
	} groups[SERVER_MAX_GROUPS];
};

bool layout_has_upstream(const struct service_group *sg);

/* Returns 0, or -1 after a message where more cores are named than there can be workers. */
int layout_make(struct layout *l, const struct server_config *config);

/* What the worker runs, for people, in at most `size` bytes: the groups are named where there are several. */
void layout_name(const struct layout *l, const struct server_config *config, unsigned worker,
		 char *name, size_t size);
