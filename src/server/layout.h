/* SPDX-License-Identifier: BSD-3-Clause */
/* Which worker runs which part of which group. There is one worker per core that groups name in
 * `threads`, numbered in the order of first mention. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "model/server_config.h"
#include "platform/platform.h"

/* Parts of a group that a worker runs, as bits. */
enum layout_part {
	PART_UPPER = 1, /* upper MAC */
	PART_LOWER = 2,
	PART_UPSTREAM = 4,
	PARTS = 8,
};

#define LAYOUT_GROUP_WORKERS 3 /* of one group: upper MAC, lower MAC, upstream */

/* The service groups of a server by slot. A group keeps its slot while it is in service. */
struct group_slots {
	const struct service_group *list[SERVER_MAX_GROUPS]; /* NULL: the slot is free */
	unsigned count; /* all slots from here on are free */
};

/* The groups of a configuration. */
struct group_slots group_slots_of(const struct server_config *config);

struct layout {
	unsigned cores[PLATFORM_MAX_WORKERS]; /* the core of each worker */
	unsigned worker_count;
	/* The workers of each group; one worker may run several parts. */
	struct layout_group {
		unsigned upper, lower;
		unsigned upstream; /* unused without an upstream */
	} groups[SERVER_MAX_GROUPS];
};

bool layout_has_upstream(const struct service_group *sg);

/* Returns 0, or -1 and logs the reason if the groups name more cores than there can be workers. */
int layout_make(struct layout *l, const struct server_config *config);

/* The workers of a group that is added. Its cores must have workers: placement_allows() checks
 * it. */
struct layout_group layout_find(const struct layout *l, const struct service_group *sg);

/* The parts of the group that the worker runs, as bits. */
unsigned layout_parts(const struct layout *l, const struct group_slots *groups, size_t group,
		      unsigned worker);

/* Writes what the worker runs, for people, in at most `size` bytes. Names the groups if there are
 * several. */
void layout_name(const struct layout *l, const struct group_slots *groups, unsigned worker,
		 char *name, size_t size);
