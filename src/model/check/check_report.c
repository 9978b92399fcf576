/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of the checks. */
#include <stdio.h>

#include "model/check/check.h"

void check_report(struct check *check, const struct node *node, uint32_t line,
		  const struct path *path, const char *allowed) {
	const struct node *value = node;
	char found[256] = "nothing";

	while (value != NULL && value->type == NODE_ALIAS)
		value = value->target;
	if (value != NULL && value->type == NODE_SCALAR)
		errors_quote(value->text, value->length, found, sizeof(found));
	else if (value != NULL)
		snprintf(found, sizeof(found), "a %s", value->type == NODE_MAP ? "map" : "list");
	errors_add(check->errors, line, path, found, allowed);
}

void check_refuse(const struct check_context *at, const char *key, const char *allowed) {
	struct path path = {.up = at->up, .key = key};
	const struct node *node = node_present(at->map, key);

	check_report(at->check, node, node != NULL ? node->line : at->map->line, &path, allowed);
}

bool check_resolve(struct check *check, const struct id_map *map, struct node *node,
		   uint32_t *value, const struct path *path, const char *what) {
	char allowed[64];
	uint32_t index;

	if (node_resolve(node)->bad)
		return false;
	index = map->find != NULL ? map->find(map->group, *value) : map->index[*value];
	if (index != ID_UNKNOWN) {
		*value = index;
		return true;
	}
	snprintf(allowed, sizeof(allowed), "the id of %s %s", what,
		 map->find != NULL ? "in service" : "of this file");
	if (map->complete)
		check_report(check, node, node->line, path, allowed);
	return false;
}
