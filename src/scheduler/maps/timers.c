/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/maps/timers.h"

#include <stdlib.h>

#define WAYS 4 /* children of an entry: half the depth of a binary heap, with as many cache lines */

bool timers_create(struct timers *t, uint32_t count) {
	*t = (struct timers){
		.heap = calloc(count, sizeof(*t->heap)),
		.positions = calloc(count, sizeof(*t->positions)),
	};
	if (t->heap == NULL || t->positions == NULL)
		return false;
	for (uint32_t i = 0; i < count; i++)
		t->positions[i] = TIMER_NONE;
	return true;
}

void timers_free(struct timers *t) {
	free(t->heap);
	free(t->positions);
}

static bool earlier(const struct timer_entry *a, const struct timer_entry *b) {
	return a->at < b->at || (a->at == b->at && a->timer < b->timer);
}

static void put(struct timers *t, uint32_t position, struct timer_entry entry) {
	t->heap[position] = entry;
	t->positions[entry.timer] = position;
}

static void sift_up(struct timers *t, uint32_t position, struct timer_entry entry) {
	while (position > 0 && earlier(&entry, &t->heap[(position - 1) / WAYS])) {
		put(t, position, t->heap[(position - 1) / WAYS]);
		position = (position - 1) / WAYS;
	}
	put(t, position, entry);
}

static uint32_t first_child(const struct timers *t, uint32_t position) {
	uint32_t first = position * WAYS + 1, end = first + WAYS, best = first;

	for (uint32_t i = first + 1; i < end && i < t->count; i++)
		if (earlier(&t->heap[i], &t->heap[best]))
			best = i;
	return best;
}

static void sift_down(struct timers *t, uint32_t position, struct timer_entry entry) {
	while (position * WAYS + 1 < t->count) {
		uint32_t child = first_child(t, position);

		if (!earlier(&t->heap[child], &entry))
			break;
		put(t, position, t->heap[child]);
		position = child;
	}
	put(t, position, entry);
}

static void settle(struct timers *t, uint32_t position, struct timer_entry entry) {
	if (position > 0 && earlier(&entry, &t->heap[(position - 1) / WAYS]))
		sift_up(t, position, entry);
	else
		sift_down(t, position, entry);
}

void timers_set(struct timers *t, uint32_t timer, uint64_t at) {
	uint32_t position = t->positions[timer];

	if (position == TIMER_NONE)
		position = t->count++;
	settle(t, position, (struct timer_entry){at, timer});
}

void timers_clear(struct timers *t, uint32_t timer) {
	uint32_t position = t->positions[timer];

	if (position == TIMER_NONE)
		return;
	t->positions[timer] = TIMER_NONE;
	if (position != --t->count)
		settle(t, position, t->heap[t->count]);
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
