/* SPDX-License-Identifier: BSD-3-Clause */
#include "numbers.h"

#include <math.h>

json_t *numbers_real(double value) {
	double digits;

	if (!isfinite(value))
		return json_null();
	if (value == 0)
		return json_real(0);
	digits = pow(10, 5 - floor(log10(fabs(value))));
	return json_real(round(value * digits) / digits);
}

void numbers_quantiles(json_t *out, const struct hdr_histogram *h, double unit,
		       const struct numbers_quantile *quantiles, unsigned count) {
	json_object_set_new(out, "mean", numbers_real(hdr_mean(h) / unit));
	for (unsigned i = 0; i < count; i++) {
		double value = (double)hdr_value_at_percentile(h, quantiles[i].percent);

		json_object_set_new(out, quantiles[i].name, numbers_real(value / unit));
	}
}
