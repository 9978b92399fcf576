/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts runs of the schedulers to figures, as JSON (docs/results.md). */
#pragma once

#include <jansson.h>

#include "platform/host.h"
#include "scheduler_run.h"

#define SCHEDULER_MAX_RUNS 101

/* The result of a case at one load, from `count` runs of each subject; sorts them by their cycles.
 * Contains the first subject's figures, and those of the others under their names. */
json_t *scheduler_result(const struct bench_case *c, unsigned load,
			 struct tally runs[][SCHEDULER_MAX_RUNS], unsigned count,
			 const struct host *host);
