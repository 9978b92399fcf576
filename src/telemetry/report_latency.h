/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports the latency of packets in the pipeline (pipeline/latency.h). */
#pragma once

#include <jansson.h>

#include "server/served_group.h"

/* The latency of a direction (one bit). NULL if it was never measured, or the group does not have
 * the direction. */
struct latency *report_latency_of(const struct served_group *g, enum direction direction);

/* {"mean", .., "histogram"} in microseconds, over all packets of the groups since the measurement began
 * (docs/results.md); JSON null if it was never measured. May be called while workers run. The caller owns
 * it. */
json_t *report_latency_whole(const struct served_group *groups, unsigned count,
			     enum direction direction);

/* The same for the packets since the last call; resets them, so that each trial reports its own. */
json_t *report_latency_reset(const struct served_group *groups, unsigned count,
			     enum direction direction);
