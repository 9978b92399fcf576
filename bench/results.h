/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts runs to figures: median and spread, as JSON (docs/results.md). */
#pragma once

#include <jansson.h>

#include "direction.h"
#include "platform/host.h"

#define BENCH_MAX_RUNS 101

/* The result of the runs of one mix; sorts `runs` by their cycles. `count` is 1..BENCH_MAX_RUNS. */
json_t *bench_result(struct bench *b, const struct bench_direction *d, const char *mix,
		     struct bench_run *runs, unsigned count, const struct host *host);
