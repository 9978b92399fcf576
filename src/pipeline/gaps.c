/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline/gaps.h"

static uint64_t length_of(const struct gap *gap) {
	return gap->to - gap->from;
}

void gaps_record(struct gaps *g, uint64_t from, uint64_t to) {
	const struct gap noted = {.from = from, .to = to};
	uint32_t shortest = 0;

	if (g->count < GAPS_MAX) {
		g->list[g->count++] = noted;
		return;
	}
	g->shorter++;
	for (uint32_t i = 1; i < GAPS_MAX; i++) {
		if (length_of(&g->list[i]) < length_of(&g->list[shortest]))
			shortest = i;
	}
	if (length_of(&g->list[shortest]) < length_of(&noted))
		g->list[shortest] = noted;
}
