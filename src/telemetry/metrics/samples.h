/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes samples as JSON. */
#pragma once

#include <stdio.h>

#include "telemetry/metrics/metrics.h"

/* A cursor is a position in the samples of a selection: 0 is the start, METRICS_SAMPLES_END the
 * end. */
#define METRICS_SAMPLES_END UINT64_MAX

/*
 * Writes at most `max` samples from `cursor` as {"name", "labels": {..}, "value"}, separated by commas.
 * `*count` counts them over all calls. Histograms are NAME_bucket with the label le, NAME_sum and NAME_count.
 * All calls must use the same selection. Returns false without memory.
 */
bool metrics_samples(const struct metrics_source *source, const struct metrics_selection *selection,
		     FILE *out, size_t max, uint64_t *cursor, size_t *count);
