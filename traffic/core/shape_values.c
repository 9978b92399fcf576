/* SPDX-License-Identifier: BSD-3-Clause */
/* Parses the numbers in the text of a shape. */
#include "core/shape_values.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/pacing.h"
#include "core/shape.h"
#include "model/units.h"

/* The percent sign is needed. Digits and a point only: strtod() would accept "inf", "0x1" and "-1". */
bool shape_share(const char *text, double *share) {
	size_t size = strspn(text, "0123456789.");
	char *end;

	if (size == 0 || size > 12 || strcmp(text + size, "%") != 0)
		return false;
	*share = strtod(text, &end) / 100;
	return *end == '%';
}

bool shape_rate_share(const char *text, double rate, double *share) {
	uint64_t bits = 0;

	if (!shape_share(text, share)) {
		if (strcmp(text, "0") != 0 && !units_parse_rate(text, &bits))
			return false;
		*share = (double)bits / rate;
	}
	return *share <= SHAPE_MAX_SHARE && *share * rate <= PACING_RATE_MAX * (1 + 1e-9);
}

bool shape_time(const char *text, double *seconds) {
	uint64_t ns = 0;

	if (strcmp(text, "0") != 0 && !units_parse_duration(text, &ns))
		return false;
	*seconds = (double)ns * 1e-9;
	return true;
}

bool shape_hour(const char *text, double *hours) {
	unsigned h, m;
	int size = 0;

	if (text[strspn(text, "0123456789:")] == '\0' &&
	    sscanf(text, "%2u:%2u%n", &h, &m, &size) == 2 && text[size] == '\0') {
		*hours = h + m / 60.0;
		return m < 60 && *hours <= SHAPE_DAY;
	}
	if (!shape_time(text, hours))
		return false;
	*hours /= 3600;
	return *hours <= SHAPE_DAY;
}
