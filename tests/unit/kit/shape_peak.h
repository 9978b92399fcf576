/* SPDX-License-Identifier: BSD-3-Clause */
/* The peak of a traffic shape, by which tests distinguish shapes. */
#pragma once

#include "core/shape.h"

/* The largest share of all points; 1 if the shape has no points. */
static inline double shape_peak(const struct shape *s) {
	double peak = s->count == 0 ? 1 : 0;

	for (unsigned i = 0; i < s->count; i++) {
		if (s->points[i].share > peak)
			peak = s->points[i].share;
	}
	return peak;
}
