/* SPDX-License-Identifier: BSD-3-Clause */
/* The cores of a group's threads. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Downstream threads, named as in the reference. */
enum downstream_layout {
	LAYOUT_1DS1T, /* upper and lower MAC on one core */
	LAYOUT_1DS2T, /* upper and lower MAC on separate cores */
};

/* Named core configurations. xUSyT: the upstreams of x groups on y threads; 1DSzT: the downstream of 1 group
 * on z threads. */
enum thread_layout {
	LAYOUT_NONE, /* each core has its own key */
	LAYOUT_1US1T_1DS1T,
	LAYOUT_1US1T_1DS2T,
	LAYOUT_2US1T_1DS2T,
	LAYOUT_COMBINED, /* both directions of a group, with both MACs, on one thread */
	LAYOUT_COMBINED2, /* both directions of two groups on one thread */
};

/* The thread settings of the file, from which the cores in thread_config are derived. */
struct thread_request {
	enum thread_layout layout;
	/* cores for the groups in order, each once: upper MAC, lower MAC, upstream of a group; in the reader's arena */
	uint16_t *cores;
	size_t core_count;
	/* which keys are given */
	bool downstream, main_core, upper_mac_core, lower_mac_core, upstream_core;
};

struct thread_config {
	enum downstream_layout downstream;
	uint32_t main_core; /* of the control thread; the same in all groups of a server */
	uint32_t upper_mac_core;
	/* valid in 1ds2t only; layouts_group_cores() returns the effective cores */
	uint32_t lower_mac_core;
	uint32_t upstream_core; /* may be a downstream core: its thread then runs both directions */
	/* The settings that led to these cores. After layouts_assign() only comparisons, messages and reports read
	 * them. */
	struct thread_request requested;
};
