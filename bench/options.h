/* SPDX-License-Identifier: BSD-3-Clause */
/* What vcmts-bench is asked for, and the directions that there are. */
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
	const char *direction; /* NULL: both */
	const char *mixes[MAX_MIXES];
	unsigned mix_count;
	bool published; /* of the mixes that are measured where none is asked for, the first */
	bool requests; /* runs as they are asked for by lines on stdin */
	unsigned runs;
	unsigned milliseconds;
	unsigned threads;
	unsigned core; /* with one thread; PLATFORM_ONE_CORE */
	unsigned cores[2]; /* of upper and lower MAC, with two threads */
	double load_seconds;
	uint64_t configuration_bytes;
	unsigned flows; /* of the traffic; 0: as many as it has by itself */
};

/* The direction of this name, or NULL. */
const struct bench_direction *bench_direction_named(const char *name);

/* Fills in what the arguments say; ends the program where they are wrong. */
void bench_options_parse(int argc, char **argv, struct bench_options *o);
