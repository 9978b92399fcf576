/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of vcmts-bench, and the list of directions. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "direction.h"

#define MAX_MIXES 32
#define DIRECTIONS 2
#define RUN_MS_MIN 10
#define RUN_MS_MAX 600000

extern const struct bench_direction *const bench_directions[DIRECTIONS];

struct bench_options {
	const char *config;
	const char *json;
	const char *direction; /* `name` of a struct bench_direction (same address); NULL: both */
	const char *mixes[MAX_MIXES];
	unsigned mix_count;
	bool published; /* only the first of the default mixes */
	bool requests; /* runs on request: see requests.h */
	unsigned runs;
	unsigned milliseconds;
	unsigned threads;
	unsigned core; /* with one thread; PLATFORM_ONE_CORE: the first usable one */
	unsigned cores[2]; /* for upper and lower MAC, with two threads */
	/* not options: set when the configuration is loaded, see struct footprint */
	double load_seconds;
	uint64_t configuration_bytes;
	unsigned flows; /* of the traffic; 0: its default */
};

/* The direction of this name, or NULL. */
const struct bench_direction *bench_direction_named(const char *name);

/* Parses the arguments; ends the program if they are invalid. */
void bench_options_parse(int argc, char **argv, struct bench_options *o);
