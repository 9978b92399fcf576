/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts histograms to a few buckets. All bounds are powers of two in ns, which are also bounds
 * of the source buckets, so the counts are exact. */
#pragma once

#include <hdr_histogram.h>

#include "scheduler/report.h"
#include "telemetry/metrics/metrics.h"

/* Times of packets in a pipeline, ns. */
void histogram_of_times(struct metric_histogram *out, const struct hdr_histogram *ns);

/* Delays in the scheduler. */
void histogram_of_delays(struct metric_histogram *out, const struct scheduler_delay_report *r);

/* Writes `ns` as decimal seconds, exactly and without trailing zeros, as the label of a bound. */
#define METRICS_SECONDS_TEXT 40
void metrics_seconds_text(char out[METRICS_SECONDS_TEXT], uint64_t ns);
