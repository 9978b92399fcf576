/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples as JSON. */
#pragma once

#include <jansson.h>

#include "metrics/metrics.h"

/*
 * [{"name", "labels": {..}, "value"}], histograms by NAME_bucket with the label le, NAME_sum and NAME_count. The caller
 * owns it. `count` becomes how many there are; NULL: more than `most`, or else memory is short.
 */
json_t *metrics_samples(const struct metrics_source *source,
			const struct metrics_selection *selection, size_t most, size_t *count);
