/* SPDX-License-Identifier: BSD-3-Clause */
#include "pipeline/change.h"

static bool phase_run(struct change_cursor *cursor, const struct change_phase *phase,
		      void *change) {
	uint32_t count;

	if (phase->count != NULL)
		count = phase->count(change);
	else if (phase->counted != 0)
		count = *(const uint32_t *)((const char *)change + phase->counted);
	else
		return phase->step(change, cursor);
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
