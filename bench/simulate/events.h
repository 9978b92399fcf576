/* SPDX-License-Identifier: BSD-3-Clause */
/* Queue of events ordered by time; events of equal time keep the order of insertion. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
	uint64_t time; /* ns */
	uint64_t order; /* of insertion */
	void (*handle)(void *context, void *subject);
	void *subject;
};

/* Zeroed: empty. */
struct events {
	struct event *heap;
	size_t count, capacity;
	uint64_t order;
};

/* Returns false if memory is short. */
bool events_add(struct events *e, uint64_t time, void (*handle)(void *, void *), void *subject);

/* Time of the next event; UINT64_MAX if there is none. */
uint64_t events_next(const struct events *e);

/* Removes and returns the next event; there must be one. */
struct event events_pop(struct events *e);

void events_free(struct events *e);
