/* SPDX-License-Identifier: BSD-3-Clause */
/* Assigns cores to all groups by named core configurations. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "model/errors.h"
#include "model/service_group.h"
#include "model/tree.h"

/* The number of downstream threads of a group in this layout. */
enum downstream_layout layouts_downstream(enum thread_layout layout);

/* A group and the lines of its thread settings; 0: not given. */
struct placed_group {
	struct service_group *sg;
	uint32_t layout_line;
	uint32_t cores_line; /* groups with the same line divide this list of cores */
	uint32_t main_core_line;
};

/* The lines of a group that was read from `root`. */
struct placed_group layouts_lines(struct service_group *sg, struct node *root);

/* Assigns cores to the groups in their order. If a group names the main core, all groups get it.
 * Reports lists that are too short, and contradictions. */
void layouts_assign(const struct placed_group *groups, size_t count, struct errors *errors);

/* The layout's name in a file; NULL: each core has its own key. */
const char *layouts_name(enum thread_layout layout);

/* The cores on which the threads of a group poll. */
struct group_cores {
	uint32_t upper_mac;
	uint32_t lower_mac; /* in 1ds1t that of the upper MAC */
	uint32_t upstream; /* without upstream channels that of the upper MAC */
};
struct group_cores layouts_group_cores(const struct service_group *sg);

#define LAYOUTS_MAX_CORES 3 /* per group */

/* Lists the cores that a group's threads poll on, each once: upper MAC, lower MAC, upstream.
 * Returns their number. */
size_t layouts_cores(const struct service_group *sg, uint32_t cores[LAYOUTS_MAX_CORES]);
