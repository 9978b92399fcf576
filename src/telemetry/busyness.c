/* SPDX-License-Identifier: BSD-3-Clause */
#include "telemetry/busyness.h"

int busyness_of(struct busyness *b, struct busyness_reading now, uint64_t window) {
	uint64_t busy, total;

	if (now.tsc - b->last.tsc >= window) {
		b->from = b->last;
		b->last = now;
	}
	total = now.total - b->from.total;
	busy = now.busy - b->from.busy;
	if (total == 0)
		return BUSYNESS_UNKNOWN;
	/* `busy` and `total` are not read atomically, so `busy` may exceed `total`. */
	return busy >= total ? 100 : (int)((busy * 100 + total / 2) / total);
}
