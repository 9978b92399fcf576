/* SPDX-License-Identifier: BSD-3-Clause */
/* How long packets stay in the pipeline (pipeline/latency.h), for reports and telemetry. */
#pragma once

#include <jansson.h>

#include "server/served_group.h"

/* Of a direction (one bit). NULL where it was never measured, or the direction is not there. */
struct latency *report_latency_of(const struct served_group *g, enum direction direction);

/* {"mean", .., "histogram"} in microseconds of all packets of the groups since measuring began
 * (docs/results.md); JSON's null where it was never measured. Also while workers run. The caller owns it. */
json_t *report_latency_whole(const struct served_group *groups, unsigned count,
			     enum direction direction);

/* The same of the packets since the last call, which are forgotten: what a trial of its own tells. */
json_t *report_latency_take(const struct served_group *groups, unsigned count,
			    enum direction direction);
