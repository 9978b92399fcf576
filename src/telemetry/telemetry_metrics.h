/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The metrics registry in flat responses, for collectors that make a series of every key. Values are numbers,
 * except for labels that a filter fixes. Parameters, separated by commas:
 *
 *     LABEL=VALUE   only samples with this label, which is reported once and omitted from keys
 *     from=N        from the Nth of these samples on
 *     PREFIX        of the metrics' names, without vcmts_; "" selects all
 *
 * A key is the metric's name without vcmts_, followed by a slash, label, slash and value for each remaining
 * label. A worker's core, a port's role and a modem's service group are omitted if a filter determines them.
 * Seconds are in nanoseconds, ratios in parts per million; histograms have _sum and _count.
 */
#pragma once

#include <rte_telemetry.h>

#include "telemetry/metrics/metrics.h"

/* The caller must not have the server's lock. */
int telemetry_metrics(const struct metrics_source *source, const char *params,
		      struct rte_tel_data *d);
