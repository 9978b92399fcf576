/* SPDX-License-Identifier: BSD-3-Clause */
/* Converts numbers of a result to JSON. */
#pragma once

#include <hdr_histogram.h>
#include <jansson.h>

/* Rounds to six digits, to keep files short. Returns null for a value that is not finite. */
json_t *numbers_real(double value);

struct numbers_quantile {
	const char *name;
	double percent;
};

/* Adds these quantiles of a non-empty histogram, divided by `unit`. */
void numbers_quantiles(json_t *out, const struct hdr_histogram *h, double unit,
		       const struct numbers_quantile *quantiles, unsigned count);
