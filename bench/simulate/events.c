/* SPDX-License-Identifier: BSD-3-Clause */
#include "events.h"

#include <stdlib.h>

#define CAPACITY_FIRST 1024

static bool before(const struct event *a, const struct event *b) {
	return a->time != b->time ? a->time < b->time : a->order < b->order;
}

static bool grow(struct events *e) {
	size_t capacity = e->capacity == 0 ? CAPACITY_FIRST : 2 * e->capacity;
	struct event *heap = reallocarray(e->heap, capacity, sizeof(*heap));

	if (heap == NULL)
		return false;
	e->heap = heap;
	e->capacity = capacity;
	return true;
}

bool events_add(struct events *e, uint64_t time, void (*handle)(void *, void *), void *subject) {
	struct event event = {time, e->order++, handle, subject};
	size_t at = e->count;

	if (e->count == e->capacity && !grow(e))
		return false;
	e->count++;
	for (; at > 0 && before(&event, &e->heap[(at - 1) / 2]); at = (at - 1) / 2)
		e->heap[at] = e->heap[(at - 1) / 2];
	e->heap[at] = event;
	return true;
}

uint64_t events_next(const struct events *e) {
	return e->count == 0 ? UINT64_MAX : e->heap[0].time;
}

struct event events_pop(struct events *e) {
	struct event first = e->heap[0], last = e->heap[--e->count];
	size_t at = 0;

	for (;;) {
		size_t child = 2 * at + 1;

		if (child + 1 < e->count && before(&e->heap[child + 1], &e->heap[child]))
			child++;
		if (child >= e->count || !before(&e->heap[child], &last))
			break;
		e->heap[at] = e->heap[child];
		at = child;
	}
	e->heap[at] = last;
	return first;
}

void events_free(struct events *e) {
	free(e->heap);
	*e = (struct events){0};
}
