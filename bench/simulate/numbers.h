/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers of a result. */
#pragma once

#include <hdr_histogram.h>
#include <jansson.h>

/* With enough digits to draw and to compare by; more would only make the file longer. null: not finite. */
json_t *numbers_real(double value);

struct numbers_quantile {
	const char *name;
	double percent;
};

/* Sets these of a histogram that holds anything, in `unit`s of what it counts. */
void numbers_quantiles(json_t *out, const struct hdr_histogram *h, double unit,
		       const struct numbers_quantile *quantiles, unsigned count);
