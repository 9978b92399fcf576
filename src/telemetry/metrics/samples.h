/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples as JSON. */
#pragma once

#include <stdio.h>

#include "telemetry/metrics/metrics.h"

/* Where the samples of a selection go on: 0 at the first, METRICS_SAMPLES_END behind the last. */
#define METRICS_SAMPLES_END UINT64_MAX

/*
 * Writes at most `most` samples from `cursor` on as {"name", "labels": {..}, "value"}, with a comma before each but where
 * `*count` is 0, which counts them; histograms by NAME_bucket with the label le, NAME_sum and NAME_count.
 * Between two calls the selection stays the same. Returns false where memory is short.
 */
bool metrics_samples(const struct metrics_source *source, const struct metrics_selection *selection,
		     FILE *out, size_t most, uint64_t *cursor, size_t *count);
