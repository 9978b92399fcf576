/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples as text for scrapers: OpenMetrics 1.0, or Prometheus' text format 0.0.4. */
#pragma once

#include "telemetry/metrics/metrics.h"

enum metrics_format { METRICS_PROMETHEUS, METRICS_OPEN };

/* The value of Content-Type. */
const char *metrics_content_type(enum metrics_format format);

struct metrics_text {
	char *text; /* without a terminating 0; the owner frees it */
	size_t size;
	size_t capacity, max; /* allocated bytes, and their limit */
	enum metrics_format format;
	bool failed; /* the text exceeds the limit, or memory was short: it is unusable */
};

/* Appends all selected samples to `t`, which is zeroed except for `max` and `format`. Returns false if `failed`
 * is set, or without memory. */
bool metrics_text_write(struct metrics_text *t, const struct metrics_source *source,
			const struct metrics_selection *selection);

/* The functions of its sink, whose `arg` is `t`. */
void metrics_text_begin(void *t, const struct metric *m);
void metrics_text_sample(void *t, const struct metric *m, const struct metric_sample *s);
