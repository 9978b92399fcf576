/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests as of a service group under load, and the cycles of what they cause. */
#pragma once

#include <stdint.h>

struct maps_case {
	const char *name;
	uint32_t modems, channels;
	double map_ms; /* rounded to frames by the scheduler */
	double load; /* of the channels */
	uint32_t bytes; /* of a request, on average */
};

struct maps_tally {
	double request_cycles, map_cycles;
	uint64_t requests, grants, maps, minislots, data_minislots;
	double seconds; /* of the time that MAPs describe */
};

#define MAPS_CASES 5
extern const struct maps_case maps_cases[MAPS_CASES];

/* `rounds` MAP intervals. Returns 0, or -1 when memory is short. */
int maps_load_run(const struct maps_case *c, uint32_t rounds, struct maps_tally *out);
