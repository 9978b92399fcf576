/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats numbers. */
#include "summary/words.h"

#include <inttypes.h>
#include <stdio.h>

#define DIGITS 3 /* between two commas */

const char *words_count(uint64_t count, char out[WORDS_SIZE]) {
	char digits[WORDS_SIZE];
	size_t n = (size_t)snprintf(digits, sizeof(digits), "%" PRIu64, count), length = 0;

	for (size_t i = 0; i < n; i++) {
		if (i > 0 && (n - i) % DIGITS == 0)
			out[length++] = ',';
		out[length++] = digits[i];
	}
	out[length] = '\0';
	return out;
}

const char *words_rate(double bps, char out[WORDS_SIZE]) {
	if (bps >= 0.1e9)
		snprintf(out, WORDS_SIZE, "%.2f Gbps", bps * 1e-9);
	else
		snprintf(out, WORDS_SIZE, "%.2f Mbps", bps * 1e-6);
	return out;
}
