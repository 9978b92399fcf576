/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists that grow in the memory of a change, and the reason for refusing it. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "upstream/change/internal.h"

bool us_change_refuse(struct us_change *c, const char *format, ...) {
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(c->why, LIVE_LINE, format, arguments);
	va_end(arguments);
	return false;
}

/* Makes space for one more entry. */
static bool grow(struct us_change *c, void **list, uint32_t count, uint32_t *capacity,
		 size_t size) {
	uint32_t wider = *capacity > 0 ? 2 * *capacity : 16;
	void *more;

	if (count < *capacity)
		return true;
	more = arena_alloc(c->memory, wider, size);
	if (more == NULL)
		return us_change_refuse(c, "no memory for a change of the upstream");
	if (count > 0)
		memcpy(more, *list, count * size);
	*list = more;
	*capacity = wider;
	return true;
}

bool us_list_add(struct us_change *c, struct us_list *l, uint32_t slot) {
	void *list = l->slots;

	if (!grow(c, &list, l->count, &l->capacity, sizeof(l->slots[0])))
		return false;
	l->slots = list;
	l->slots[l->count++] = slot;
	return true;
}

bool us_entries_add(struct us_change *c, struct us_entries *w, uint32_t key, uint32_t slot) {
	void *list = w->list;

	if (!grow(c, &list, w->count, &w->capacity, sizeof(w->list[0])))
		return false;
	w->list = list;
	w->list[w->count++] = (struct us_entry){key, slot};
	return true;
}

bool us_grants_add(struct us_change *c, const struct us_grant_plan *p) {
	void *list = c->grants.list;

	if (!grow(c, &list, c->grants.count, &c->grants.capacity, sizeof(*p)))
		return false;
	c->grants.list = list;
	c->grants.list[c->grants.count++] = *p;
	return true;
}
