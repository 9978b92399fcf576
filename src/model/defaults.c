/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/defaults.h"

#define MIN_BURST 3044 /* MULPI's default for the maximum traffic burst: two long frames */
#define BURSTS_PER_SECOND 100 /* default bursts per second, at the full rate */

uint32_t default_burst(uint64_t rate) {
	uint64_t burst = rate / (8 * BURSTS_PER_SECOND);

	return burst > MIN_BURST ? (uint32_t)burst : MIN_BURST;
}

/* An eighth, but at least two long frames if the buffer holds them. */
uint32_t default_min_buffer(uint32_t buffer) {
	uint32_t min = buffer < MIN_BURST ? buffer : MIN_BURST;

	return buffer / 8 > min ? buffer / 8 : min;
}
