/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline/change.h"

#include <stddef.h>

static bool phase_run(struct change_cursor *cursor, const struct change_phase *phase,
		      void *change) {
	uint32_t count;

	if (phase->count == NULL)
		return phase->step(change, cursor);
	count = phase->count(change);
	for (; cursor->at < count; cursor->at++) {
		if (cursor->left <= 0 || !phase->step(change, cursor))
			return false;
	}
	return true;
}

bool change_run(struct change_cursor *cursor, const struct change_phase *phases, unsigned count,
		void *change, int budget) {
	cursor->left = budget;
	for (; cursor->phase < count; cursor->phase++, cursor->at = 0) {
		if (!phase_run(cursor, &phases[cursor->phase], change))
			return false;
	}
	return true;
}
