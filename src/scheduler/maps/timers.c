/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/maps/timers.h"

#include <stdlib.h>

#define WAYS 4 /* children of an entry: half the depth of a binary heap, with as many cache lines */

bool timers_create(struct timers *t, uint32_t count) {
	*t = (struct timers){
		.heap = calloc(count, sizeof(*t->heap)),
		.places = calloc(count, sizeof(*t->places)),
	};
	if (t->heap == NULL || t->places == NULL)
		return false;
	for (uint32_t i = 0; i < count; i++)
		t->places[i] = TIMER_NONE;
	return true;
}

void timers_free(struct timers *t) {
	free(t->heap);
	free(t->places);
}

static bool earlier(const struct timer_entry *a, const struct timer_entry *b) {
	return a->at < b->at || (a->at == b->at && a->timer < b->timer);
}

static void put(struct timers *t, uint32_t place, struct timer_entry entry) {
	t->heap[place] = entry;
	t->places[entry.timer] = place;
}

static void sift_up(struct timers *t, uint32_t place, struct timer_entry entry) {
	while (place > 0 && earlier(&entry, &t->heap[(place - 1) / WAYS])) {
		put(t, place, t->heap[(place - 1) / WAYS]);
		place = (place - 1) / WAYS;
	}
	put(t, place, entry);
}

static uint32_t first_child(const struct timers *t, uint32_t place) {
	uint32_t first = place * WAYS + 1, end = first + WAYS, best = first;

	for (uint32_t i = first + 1; i < end && i < t->count; i++)
		if (earlier(&t->heap[i], &t->heap[best]))
			best = i;
	return best;
}

static void sift_down(struct timers *t, uint32_t place, struct timer_entry entry) {
	while (place * WAYS + 1 < t->count) {
		uint32_t child = first_child(t, place);

		if (!earlier(&t->heap[child], &entry))
			break;
		put(t, place, t->heap[child]);
		place = child;
	}
	put(t, place, entry);
}

static void settle(struct timers *t, uint32_t place, struct timer_entry entry) {
	if (place > 0 && earlier(&entry, &t->heap[(place - 1) / WAYS]))
		sift_up(t, place, entry);
	else
		sift_down(t, place, entry);
}

void timers_set(struct timers *t, uint32_t timer, uint64_t at) {
	uint32_t place = t->places[timer];

	if (place == TIMER_NONE)
		place = t->count++;
	settle(t, place, (struct timer_entry){at, timer});
}

void timers_clear(struct timers *t, uint32_t timer) {
	uint32_t place = t->places[timer];

	if (place == TIMER_NONE)
		return;
	t->places[timer] = TIMER_NONE;
	if (place != --t->count)
		settle(t, place, t->heap[t->count]);
}

/* The order stays the same. */
void timers_move(struct timers *t, uint64_t from, uint64_t to) {
	for (uint32_t i = 0; i < t->count; i++)
		t->heap[i].at = t->heap[i].at - from + to;
}

uint32_t timers_pop(struct timers *t, uint64_t now) {
	uint32_t timer;

	if (t->count == 0 || t->heap[0].at > now)
		return TIMER_NONE;
	timer = t->heap[0].timer;
	timers_clear(t, timer);
	return timer;
}
