/* SPDX-License-Identifier: BSD-3-Clause */
/* From a core configuration by its name to the cores of every group. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/errors.h"
#include "model/service_group.h"
#include "model/tree.h"

/* How many threads the downstream of a group has in this layout. */
enum downstream_layout layouts_downstream(enum thread_layout layout);

/* A group and the lines of what it says of threads; 0: nothing. */
struct placed_group {
	struct service_group *sg;
	uint32_t layout_line;
	uint32_t cores_line; /* groups of one line have these cores together */
	uint32_t main_core_line;
};

/* The lines of a group that was read from `root`. */
struct placed_group layouts_lines(struct service_group *sg, struct node *root);

/*
 * Gives the groups their cores, in their order, and all of them the main core that one of them names.
 * Reports lists of cores that are too short, and what contradicts.
 */
void layouts_deal(const struct placed_group *groups, size_t count, struct errors *errors);

/* The layout's name in a file; NULL: every core by its own key. */
const char *layouts_name(enum thread_layout layout);

/* Where the threads of a group poll. */
struct group_cores {
	uint32_t upper_mac;
	uint32_t lower_mac; /* in 1ds1t that of the upper MAC */
	uint32_t upstream; /* without upstream channels that of the upper MAC */
};
struct group_cores layouts_group_cores(const struct service_group *sg);

#define LAYOUTS_MOST_CORES 3 /* of a group */

/* The cores that a group's threads poll on, each once: upper MAC, lower MAC, upstream. Returns how many. */
size_t layouts_cores(const struct service_group *sg, uint32_t cores[LAYOUTS_MOST_CORES]);
