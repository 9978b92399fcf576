/* SPDX-License-Identifier: BSD-3-Clause */
/* From runs of the schedulers to figures, as JSON (docs/results.md). */
#pragma once

#include <jansson.h>

#include "platform/host.h"
#include "scheduler_run.h"

#define SCHEDULER_MAX_RUNS 101

/* A case at one load: `count` runs of each subject, which are sorted by their cycles. The first
 * subject's figures are the result's, the others stand in it under their names. */
json_t *scheduler_result(const struct bench_case *c, unsigned load,
			 struct tally runs[][SCHEDULER_MAX_RUNS], unsigned count,
			 const struct host *host);
