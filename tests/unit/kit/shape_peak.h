/* SPDX-License-Identifier: BSD-3-Clause */
/* By what tests know one shape from another. */
#pragma once

#include "core/shape.h"

/* The largest share; 1 without points. */
static inline double shape_peak(const struct shape *s) {
	double peak = s->count == 0 ? 1 : 0;

	for (unsigned i = 0; i < s->count; i++) {
		if (s->points[i].share > peak)
			peak = s->points[i].share;
	}
	return peak;
}
