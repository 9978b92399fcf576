/* SPDX-License-Identifier: BSD-3-Clause */
/* What is to happen, in the order of time; at equal times in the order in which it was put in. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct event {
	uint64_t time; /* ns */
	uint64_t order;
	void (*handle)(void *context, void *subject);
	void *subject;
};

struct events {
	struct event *heap;
	size_t count, room;
	uint64_t order;
};

/* Returns false where memory is short. */
bool events_add(struct events *e, uint64_t time, void (*handle)(void *, void *), void *subject);

/* When the next one happens; UINT64_MAX without any. */
uint64_t events_next(const struct events *e);

/* Takes the next one out; there must be one. */
struct event events_take(struct events *e);

void events_free(struct events *e);
