/* SPDX-License-Identifier: BSD-3-Clause */
/* A set of values with their nodes, sorted once at the end. */
#include "model/unique.h"

#include <stdlib.h>
#include <string.h>

void unique_add_at(struct unique_set *set, const struct unique_path *at, const void *value,
		   size_t size, const struct node *node, const size_t index[UNIQUE_LISTS]) {
	struct unique_entry *entry;

	if (set->count == set->capacity) {
		size_t capacity = set->capacity > 0 ? 2 * set->capacity : 64;
		struct unique_entry *entries =
			reallocarray(set->entries, capacity, sizeof(*entries));

		if (entries == NULL) {
			set->failed = 1;
			return;
		}
		set->entries = entries;
		set->capacity = capacity;
	}
	entry = &set->entries[set->count];
	*entry = (struct unique_entry){
		.order = (uint32_t)set->count,
		.at = at,
		.node = node,
	};
	set->count++;
	for (size_t i = 0; i < UNIQUE_LISTS; i++)
		entry->index[i] = (uint32_t)index[i];
	memcpy(entry->value, value, size < UNIQUE_VALUE_SIZE ? size : UNIQUE_VALUE_SIZE);
}

void unique_add(struct unique_set *set, const void *value, size_t size, const struct node *node,
		size_t i, size_t j) {
	const size_t index[UNIQUE_LISTS] = {i, j};

	unique_add_at(set, &set->at, value, size, node, index);
}

static int compare(const void *a, const void *b) {
	const struct unique_entry *left = a, *right = b;
	int order = memcmp(left->value, right->value, UNIQUE_VALUE_SIZE);

	if (order != 0)
		return order;
	if (left->node->line != right->node->line)
		return left->node->line < right->node->line ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

static void unique_report(const struct unique_entry *entry, const struct unique_entry *first,
			  struct errors *errors) {
	const struct unique_path *at = entry->at;
	const struct node *value = entry->node;
	struct path steps[2 * UNIQUE_LISTS];
	const struct path *holder = NULL;
	struct path leaf = {.key = at->leaf};
	char quoted[256], what[320];

	while (value->type == NODE_ALIAS)
		value = value->target;
	for (size_t i = 0; i < UNIQUE_LISTS && at->lists[i] != NULL; i++) {
		steps[2 * i] = (struct path){.up = holder, .key = at->lists[i]};
		steps[2 * i + 1] = (struct path){.up = &steps[2 * i], .index = entry->index[i]};
		holder = &steps[2 * i + 1];
	}
	leaf.up = holder;
	errors_quote(value->text, value->length, quoted, sizeof(quoted));
	snprintf(what, sizeof(what), "%s %.*s", at->what, (int)strlen(quoted) - 2, &quoted[1]);
	errors_add_duplicate(errors, entry->node->line, at->leaf != NULL ? &leaf : holder, what,
			     first->node->line);
}

void unique_finish(struct unique_set *set, struct errors *errors) {
	size_t first = 0;

	if (set->failed)
		errors_add_no_memory(errors);
	if (set->count > 0)
		qsort(set->entries, set->count, sizeof(set->entries[0]), compare);
	for (size_t k = 1; k < set->count; k++) {
		const struct unique_entry *entry = &set->entries[k];

		if (memcmp(entry->value, set->entries[first].value, UNIQUE_VALUE_SIZE) != 0)
			first = k;
		else
			unique_report(entry, &set->entries[first], errors);
	}
	free(set->entries);
	*set = (struct unique_set){.at = set->at};
}
