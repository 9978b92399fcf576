/* SPDX-License-Identifier: BSD-3-Clause */
/* How long packets stay in the pipeline (pipeline/latency.h), for reports and telemetry. */
#pragma once

#include <jansson.h>

#include "server/instance.h"

/* Of a direction (one bit). NULL where it was never measured, or the direction is not there. */
struct latency *report_latency_of(const struct instance *i, enum direction direction);

/* {"mean", .., "histogram"} in microseconds of all packets since measuring began (docs/results.md);
 * JSON's null where it was never measured. Also while workers run. The caller owns it. */
json_t *report_latency_whole(const struct instance *i, enum direction direction);

/* The same of the packets since the last call, which are forgotten: what a trial of its own tells. */
json_t *report_latency_take(const struct instance *i, enum direction direction);
