/* SPDX-License-Identifier: BSD-3-Clause */
/* Generates requests of a service group under load, and measures cycles of the scheduler. */
#pragma once

#include <stdint.h>

struct maps_case {
	const char *name;
	uint32_t modems, channels;
	double map_ms; /* the scheduler rounds it to OFDMA frames of 135 us: 1 ms to 7, 2 ms to 15 */
	double load; /* share of the channels' capacity */
	uint32_t bytes; /* average bytes per request */
};

struct maps_tally {
	/* reference cycles: of the median MAP interval, times the intervals */
	double request_cycles, map_cycles;
	/* counts of all intervals; `data_minislots` of all `minislots` are granted for data */
	uint64_t requests, grants, maps, minislots, data_minislots;
	double seconds; /* duration that the MAPs describe */
};

#define MAPS_CASES 5
extern const struct maps_case maps_cases[MAPS_CASES];

/* Runs `rounds` MAP intervals, at least one. Returns 0, or -1 after a message. */
int maps_load_run(const struct maps_case *c, uint32_t rounds, struct maps_tally *out);
