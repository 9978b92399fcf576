/* SPDX-License-Identifier: BSD-3-Clause */
/* A hash table of time spans in which lost or reordered packets were under way. */
#include "proof/suspects.h"

#include <stdlib.h>
#include <string.h>

#define STEPS_PER_SECOND (1000000 / SUSPECT_STEP_US)
#define FULL (SUSPECTS_MAX / 4 * 3)

int suspects_create(struct suspects *s, uint64_t tsc_hz) {
	*s = (struct suspects){.table = calloc(SUSPECTS_MAX, sizeof(*s->table)),
			       .step = tsc_hz / STEPS_PER_SECOND};
	return s->table != NULL ? 0 : -1;
}

void suspects_free(struct suspects *s) {
	free(s->table);
	*s = (struct suspects){0};
}

void suspects_restart(struct suspects *s) {
	if (s->count > 0)
		memset(s->table, 0, SUSPECTS_MAX * sizeof(*s->table));
	*s = (struct suspects){.table = s->table, .step = s->step};
}

static struct suspect *find(struct suspects *s, uint64_t from, uint64_t to) {
	uint64_t hash = (from * 31 + to) / s->step * UINT64_C(0x9e3779b97f4a7c15) >> 32;

	for (;; hash++) {
		struct suspect *found = &s->table[hash % SUSPECTS_MAX];

		if (found->to == 0 || (found->from == from && found->to == to))
			return found;
	}
}

void suspects_add(struct suspects *s, uint64_t from, uint64_t to, uint32_t lost,
		  uint32_t reordered) {
	uint64_t first = from / s->step * s->step, last = (to / s->step + 1) * s->step;
	struct suspect *found = find(s, first, last);

	if (found->to == 0 && s->count >= FULL) {
		s->lost_more += lost;
		s->reordered_more += reordered;
		return;
	}
	s->count += found->to == 0;
	found->from = first;
	found->to = last;
	found->lost += lost;
	found->reordered += reordered;
}
