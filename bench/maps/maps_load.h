/* SPDX-License-Identifier: BSD-3-Clause */
/* Generates requests of a service group under load, and measures cycles of the scheduler. */
#pragma once

#include <stdint.h>

struct maps_case {
	const char *name;
	uint32_t modems, channels;
	double map_ms; /* rounded to frames by the scheduler */
	double load; /* share of the channels' capacity */
	uint32_t bytes; /* average bytes per request */
};

struct maps_tally {
	double request_cycles, map_cycles;
	uint64_t requests, grants, maps, minislots, data_minislots;
	double seconds; /* duration that the MAPs describe */
};

#define MAPS_CASES 5
extern const struct maps_case maps_cases[MAPS_CASES];

/* Runs `rounds` MAP intervals. Returns 0, or -1 if memory is short. */
int maps_load_run(const struct maps_case *c, uint32_t rounds, struct maps_tally *out);
