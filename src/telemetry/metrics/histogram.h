/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Histograms of few buckets, made from those that are kept: all bounds are powers of two of a nanosecond, where
 * one bucket of theirs ends and the next begins, so that each value is counted where it belongs.
 */
#pragma once

#include <hdr_histogram.h>

#include "scheduler/report.h"
#include "telemetry/metrics/metrics.h"

/* Times of packets in a pipeline, ns. */
void histogram_of_times(struct metric_histogram *out, const struct hdr_histogram *ns);

/* Delays in the scheduler. */
void histogram_of_delays(struct metric_histogram *out, const struct scheduler_delay_report *r);

/* Seconds of nanoseconds in decimals, exactly and without zeros at the end: what stands for a bound. */
#define METRICS_SECONDS_TEXT 40
void metrics_seconds_text(char out[METRICS_SECONDS_TEXT], uint64_t ns);
