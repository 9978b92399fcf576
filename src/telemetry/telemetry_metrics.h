/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The registry of metrics in flat answers, for collectors that make a series of every key: numbers only, but for
 * what the question fixed. Parameters, separated by commas:
 *
 *     LABEL=VALUE   only samples with this label, which is told once and then no part of keys
 *     from=N        from the Nth of these samples on
 *     PREFIX        of the metrics' names, without vcmts_; "" of all
 *
 * A key is the metric's name without vcmts_, and behind a slash each the labels that are left with their values; a
 * worker's core, a port's role and a modem's service group are not where those are fixed. Seconds are nanoseconds,
 * ratios parts per million; of a histogram there are _sum and _count.
 */
#pragma once

#include <rte_telemetry.h>

#include "telemetry/metrics/metrics.h"

/* Takes the server's lock by itself. */
int telemetry_metrics(const struct metrics_source *source, const char *params,
		      struct rte_tel_data *d);
