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

/* Parts of a group that have a worker, as bits. */
enum layout_part {
	PART_UPPER = 1, /* upper MAC */
	PART_LOWER = 2,
	PART_UPSTREAM = 4,
	PARTS = 8,
};

#define LAYOUT_GROUP_WORKERS 3 /* that one group may have: upper MAC, lower MAC, upstream */

/* The service groups of a server by their numbers, which do not change while they are there. */
struct group_slots {
	const struct service_group *list[SERVER_MAX_GROUPS]; /* NULL: the number is free */
	unsigned count; /* from here on all are free */
};

/* Those of a configuration. */
struct group_slots group_slots_of(const struct server_config *config);

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

/* Where a group that comes runs, by its cores, which all have workers already: placement_takes() tells. */
struct layout_group layout_find(const struct layout *l, const struct service_group *sg);

/* The parts of the group that the worker runs. */
unsigned layout_parts(const struct layout *l, const struct group_slots *groups, size_t group,
		      unsigned worker);

/* What the worker runs, for people, in at most `size` bytes: the groups are named where there are several. */
void layout_name(const struct layout *l, const struct group_slots *groups, unsigned worker,
		 char *name, size_t size);
