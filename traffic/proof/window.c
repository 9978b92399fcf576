/* SPDX-License-Identifier: BSD-3-Clause */
/* A bitmap of the last WINDOW_SIZE sequence numbers. */
#include "proof/window.h"

#include <string.h>

static uint64_t bit_of(uint32_t number) {
	return 1ull << number % 64;
}

static uint64_t *word_of(struct window *w, uint32_t number) {
	return &w->seen[number % WINDOW_SIZE / 64];
}

static void window_skip(struct window *w, uint32_t gap) {
	if (gap >= WINDOW_SIZE) {
		memset(w->seen, 0, sizeof(w->seen));
		return;
	}
	for (uint32_t i = 0; i < gap; i++)
		*word_of(w, w->next + i) &= ~bit_of(w->next + i);
}

enum arrival window_arrive(struct window *w, uint32_t number, uint32_t *gap) {
	int32_t ahead = (int32_t)(number - w->next);
	uint64_t *word = word_of(w, number);

	if (ahead == 0) {
		*word |= bit_of(number);
		w->next++;
		return ARRIVAL_IN_ORDER;
	}
	if (ahead > 0) {
		*gap = (uint32_t)ahead;
		w->missing += *gap;
		window_skip(w, *gap);
		*word |= bit_of(number);
		w->next = number + 1;
		return ARRIVAL_GAP;
	}
	if (ahead < -WINDOW_SIZE)
		return ARRIVAL_TOO_OLD;
	if (*word & bit_of(number))
		return ARRIVAL_DUPLICATE;
	*word |= bit_of(number);
	w->missing--;
	return ARRIVAL_LATE;
}

bool window_received(const struct window *w, uint32_t number) {
	uint32_t behind = w->next - number;

	return behind - 1 < WINDOW_SIZE && (w->seen[number % WINDOW_SIZE / 64] & bit_of(number));
}
