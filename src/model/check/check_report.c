/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of the checks. */
#include <stdio.h>
#include <string.h>

#include "model/check/check.h"

#define QUOTE_SIZE 256

/* The text of a scalar, without quotes. */
static const char *check_quote(const struct node *value, char *quoted, size_t size) {
	errors_quote(value->text, value->length, quoted, size);
	quoted[strlen(quoted) - 1] = '\0';
	return quoted + 1;
}

static const struct node *value_of(const struct node *node) {
	while (node != NULL && node->type == NODE_ALIAS)
		node = node->target;
	return node;
}

void check_report(struct check *check, const struct node *node, uint32_t line,
		  const struct path *path, const char *allowed) {
	const struct node *value = value_of(node);
	char found[QUOTE_SIZE];

	if (value == NULL) {
		errors_say(check->errors, line, path, "the default does not fit, allowed: %s",
			   allowed);
		return;
	}
	if (value->type == NODE_SCALAR)
		errors_quote(value->text, value->length, found, sizeof(found));
	else
		snprintf(found, sizeof(found), "a %s", value->type == NODE_MAP ? "map" : "list");
	errors_add(check->errors, line, path, found, allowed);
}

/* The line of a key of the map, or that of the map if it does not have the key. */
static uint32_t line_of(const struct check_context *at, const struct node *node) {
	return node != NULL ? node->line : at->map->line;
}

void check_refuse(const struct check_context *at, const char *key, const char *allowed) {
	struct path path = {.up = at->up, .key = key};
	const struct node *node = node_present(at->map, key);

	check_report(at->check, node, line_of(at, node), &path, allowed);
}

void check_require(const struct check_context *at, const char *key, const char *needed) {
	struct path path = {.up = at->up, .key = key};

	errors_add_missing(at->check->errors, at->map->line, &path, needed);
}

void check_refuse_without(const struct check_context *at, const char *key, const char *with) {
	struct path path = {.up = at->up, .key = key};

	errors_say(at->check->errors, line_of(at, node_present(at->map, key)), &path,
		   "allowed only with %s", with);
}

void check_duplicate(struct check *check, const struct node *node, const struct path *path,
		     const char *what, const struct node *first) {
	char quoted[QUOTE_SIZE], text[QUOTE_SIZE + 32];

	snprintf(text, sizeof(text), "%s %s", what,
		 check_quote(value_of(node), quoted, sizeof(quoted)));
	errors_add_duplicate(check->errors, node->line, path, text, first->line);
}

void check_no_such(struct check *check, const struct node *node, const struct path *path,
		   const char *what, const char *where) {
	char quoted[QUOTE_SIZE];

	errors_say(check->errors, node->line, path, "no %s %s %s", what,
		   check_quote(value_of(node), quoted, sizeof(quoted)), where);
}

bool check_resolve(struct check *check, const struct id_map *map, struct node *node,
		   uint32_t *value, const struct path *path, const char *what) {
	char where[sizeof(map->known) + 32] = "in service";
	uint32_t index;

	if (node_resolve(node)->bad)
		return false;
	index = map->find != NULL ? map->find(map->group, *value) : map->index[*value];
	if (index != ID_UNKNOWN) {
		*value = index;
		return true;
	}
	if (map->find == NULL)
		snprintf(where, sizeof(where), "in this file, which has %s",
			 map->known[0] != '\0' ? map->known : "none");
	if (map->complete)
		check_no_such(check, node, path, what, where);
	return false;
}
