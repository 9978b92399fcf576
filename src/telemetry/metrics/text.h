/* SPDX-License-Identifier: BSD-3-Clause */
/* Samples as text for scrapers: OpenMetrics 1.0, or Prometheus' text format 0.0.4. */
#pragma once

#include "telemetry/metrics/metrics.h"

enum metrics_format { METRICS_PROMETHEUS, METRICS_OPEN };

/* Of Content-Type. */
const char *metrics_content_type(enum metrics_format format);

struct metrics_text {
	char *text; /* not ended by 0; to be freed by the owner */
	size_t size;
	size_t room, most; /* bytes that there are, and that there may be */
	enum metrics_format format;
	bool cut; /* it would not fit, or there was no memory: the text is of no use */
};

/* Writes all that is wanted behind what is in `t`, which is zeroed but for `most` and `format`. Returns false where it
 * does not fit. */
bool metrics_text_write(struct metrics_text *t, const struct metrics_source *source,
			const struct metrics_selection *selection);

/* The sink of it, which is `t`. */
void metrics_text_begin(void *t, const struct metric *m);
void metrics_text_sample(void *t, const struct metric *m, const struct metric_sample *s);
