/* SPDX-License-Identifier: BSD-3-Clause */
/* Circular and linear lists of array elements, linked by index. An element is in one of them at
 * most. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define NONE UINT32_MAX

/* Must be the first member of an element. */
struct link {
	uint32_t next, prev;
};

/* An array whose elements start with a struct link. */
struct links {
	void *elements;
	size_t size; /* bytes of an element */
};

static inline struct link *link_of(struct links all, uint32_t i) {
	return (struct link *)(void *)((char *)all.elements + i * all.size);
}

/* Appends to the circular list. `first` is its first element or NONE. */
static inline void ring_append(struct links all, uint32_t *first, uint32_t i) {
	struct link *element = link_of(all, i), *head;

	if (*first == NONE) {
		element->next = element->prev = i;
		*first = i;
		return;
	}
	head = link_of(all, *first);
	element->next = *first;
	element->prev = head->prev;
	link_of(all, head->prev)->next = i;
	head->prev = i;
}

static inline void ring_remove(struct links all, uint32_t *first, uint32_t i) {
	const struct link *element = link_of(all, i);

	if (element->next == i) {
		*first = NONE;
		return;
	}
	link_of(all, element->prev)->next = element->next;
	link_of(all, element->next)->prev = element->prev;
	if (*first == i)
		*first = element->next;
}

/* Moves the first element to the end. */
static inline void ring_rotate(struct links all, uint32_t *first) {
	*first = link_of(all, *first)->next;
}

/* Linear lists. Elements are linked by `next`, the last one to itself, so that a prefetch finds an
 * element beyond the end, and all but the first by `prev`. */
struct line {
	uint32_t first, last; /* NONE: empty */
};

static inline void line_append(struct links all, struct line *l, uint32_t i) {
	*link_of(all, i) = (struct link){i, l->last};
	if (l->first == NONE)
		l->first = i;
	else
		link_of(all, l->last)->next = i;
	l->last = i;
}

/* Removes the first element. Requires one. */
static inline uint32_t line_pop(struct links all, struct line *l) {
	uint32_t i = l->first;

	l->first = i == l->last ? NONE : link_of(all, i)->next;
	return i;
}

/* Moves an element to the front. */
static inline void line_pull(struct links all, struct line *l, uint32_t i) {
	struct link *element = link_of(all, i);

	if (l->first == i)
		return;
	if (l->last == i) {
		l->last = element->prev;
		link_of(all, element->prev)->next = element->prev;
	} else {
		link_of(all, element->prev)->next = element->next;
		link_of(all, element->next)->prev = element->prev;
	}
	element->next = l->first;
	link_of(all, l->first)->prev = i;
	l->first = i;
}
