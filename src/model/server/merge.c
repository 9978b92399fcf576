/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/server/merge.h"

#include <string.h>

static struct node *new_node(struct arena *arena, enum node_type type, uint32_t line) {
	struct node *node = arena_alloc(arena, 1, sizeof(*node));

	if (node != NULL) {
		node->type = (uint8_t)type;
		node->line = line;
	}
	return node;
}

static struct node *new_name(struct arena *arena, const char *name, uint32_t line) {
	struct node *node = new_node(arena, NODE_SCALAR, line);

	if (node != NULL) {
		node->text = name;
		node->length = (uint32_t)strlen(name);
	}
	return node;
}

static struct node *new_alias(struct arena *arena, struct node *target) {
	struct node *node = new_node(arena, NODE_ALIAS, target->line);

	if (node != NULL)
		node->target = target;
	return node;
}

/* Merges the values that were found for one key. */
static struct node *merge_values(struct arena *arena, const struct key *key,
				 struct node *const found[], size_t count) {
	struct node *maps[MERGE_MAX];
	size_t max = key->merged ? count : 0, used = 0;

	/* a value that should be a map has been reported */
	for (size_t i = 0; i < max; i++) {
		maps[used] = node_resolve(found[i]);
		used += maps[used]->type == NODE_MAP;
	}
	return used < 2 ? new_alias(arena, found[0])
			: merge_maps(arena, key->keys, maps, used, maps[0]->line);
}

/* Appends a pair. */
static bool merge_append(struct arena *arena, struct node *map, struct node **last,
			 const struct key *key, struct node *value) {
	struct node *name = value != NULL ? new_name(arena, key->name, value->line) : NULL;

	if (name == NULL)
		return false;
	name->next = value;
	if (*last == NULL)
		map->first = name;
	else
		(*last)->next = name;
	*last = value;
	map->length++;
	return true;
}

struct node *merge_maps(struct arena *arena, const struct key *keys, struct node *const maps[],
			size_t count, uint32_t line) {
	struct node *merged = new_node(arena, NODE_MAP, line), *last = NULL;

	for (const struct key *key = keys; merged != NULL && key->name != NULL; key++) {
		struct node *found[MERGE_MAX];
		size_t used = 0;

		for (size_t i = 0; i < count; i++) {
			found[used] = node_present(maps[i], key->name);
			used += found[used] != NULL;
		}
		if (used > 0 &&
		    !merge_append(arena, merged, &last, key, merge_values(arena, key, found, used)))
			return NULL;
	}
	return merged;
}
