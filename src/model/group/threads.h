/* SPDX-License-Identifier: BSD-3-Clause */
/* Which cores a group runs on. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How the downstream threads share the work, by the reference's names. */
enum downstream_layout {
	LAYOUT_1DS1T, /* upper and lower MAC in turn on one core */
	LAYOUT_1DS2T, /* upper and lower MAC on a core each */
};

/* Core configurations by name: N upstreams on T threads, N downstreams on T threads. */
enum thread_layout {
	LAYOUT_NONE, /* every core by its own key */
	LAYOUT_1US1T_1DS1T,
	LAYOUT_1US1T_1DS2T,
	LAYOUT_2US1T_1DS2T, /* the upstreams of two groups on one thread */
	LAYOUT_COMBINED, /* both directions of a group on one thread */
	LAYOUT_COMBINED2, /* both directions of two groups on one thread */
};

/* What the file says of threads; the cores in thread_config are made of it. */
struct thread_request {
	enum thread_layout layout;
	uint16_t *cores; /* of the layout, in the order in which groups take them; each once */
	size_t core_count;
	bool downstream, main_core, upper_mac_core, lower_mac_core, upstream_core; /* are given */
};

struct thread_config {
	enum downstream_layout downstream;
	uint32_t main_core;
	uint32_t upper_mac_core;
	uint32_t lower_mac_core; /* used by 1ds2t only */
	uint32_t upstream_core; /* may be one of the downstream's: then they take turns */
	struct thread_request
		asked; /* for those who explain a placement; it decides nothing more */
};
