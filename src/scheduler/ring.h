/* SPDX-License-Identifier: BSD-3-Clause */
/* Circles of elements of an array, linked by their indices. An element is in one circle at most. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NONE UINT32_MAX

/* The first member of an element. */
struct link {
	uint32_t next, prev;
};

/* An array whose elements begin with a struct link. */
struct links {
	void *elements;
	size_t size; /* of one */
};

static inline struct link *link_of(struct links all, uint32_t i) {
	return (struct link *)(void *)((char *)all.elements + i * all.size);
}

/* Behind all others of the circle, of which `first` is the first element or NONE. */
static inline void ring_append(struct links all, uint32_t *first, uint32_t i) {
	struct link *it = link_of(all, i), *head;

	if (*first == NONE) {
		it->next = it->prev = i;
		*first = i;
		return;
	}
	head = link_of(all, *first);
	it->next = *first;
	it->prev = head->prev;
	link_of(all, head->prev)->next = i;
	head->prev = i;
}

static inline void ring_remove(struct links all, uint32_t *first, uint32_t i) {
	const struct link *it = link_of(all, i);

	if (it->next == i) {
		*first = NONE;
		return;
	}
	link_of(all, it->prev)->next = it->next;
	link_of(all, it->next)->prev = it->prev;
	if (*first == i)
		*first = it->next;
}

/* The first goes behind all others. */
static inline void ring_rotate(struct links all, uint32_t *first) {
	*first = link_of(all, *first)->next;
}
