/* SPDX-License-Identifier: BSD-3-Clause */
#include "model/load/group_reader.h"

#include <string.h>

#include "model/check/check.h"
#include "model/keys/keys.h"
#include "model/load/reports.h"

#define LONGEST_NAME 64
#define NAME_LETTERS "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

char *group_name_of(struct arena *arena, const char *path) {
	const char *slash = strrchr(path, '/');
	const char *base = slash != NULL ? slash + 1 : path;
	const char *dot = strrchr(base, '.');
	size_t length = dot != NULL && dot != base ? (size_t)(dot - base) : strlen(base);
	char *name;

	if (length == 0) {
		base = "service-group";
		length = strlen(base);
	}
	name = arena_text(arena, base, length < LONGEST_NAME ? length : LONGEST_NAME);
	for (char *c = name; c != NULL && *c != '\0'; c++) {
		if (strchr(NAME_LETTERS, *c) == NULL && (c == name || strchr("._-", *c) == NULL))
			*c = c == name ? 'x' : '_';
	}
	return name;
}

bool group_is_one(const struct node *root, struct errors *errors) {
	static const struct path path = {.key = "service_groups"};
	const struct node *list;

	if (root->type != NODE_MAP) {
		errors_say(errors, root->line, NULL,
			   "the file has no `KEY: VALUE` lines; it needs the keys of a service "
			   "group");
		return false;
	}
	list = node_present(root, path.key);
	if (list != NULL)
		errors_say(errors, list->line, &path,
			   "not allowed here: the file is that of one service group");
	return list == NULL;
}

struct node *group_remove_key(struct node *root, const struct key *key, struct errors *errors) {
	struct node **link = &root->first, *value = NULL;
	uint32_t first = 0;

	while (*link != NULL) {
		struct node *name = *link, *word = node_resolve(name);

		if (word->type != NODE_SCALAR || strcmp(word->text, key->name) != 0) {
			link = &name->next->next;
			continue;
		}
		if (value != NULL)
			reader_report_repeated(errors, name->line, NULL, key->name, first);
		else
			first = name->line, value = name->next;
		*link = name->next->next;
		root->length--;
	}
	if (value != NULL)
		value->next = NULL;
	return value;
}

void group_read(struct service_group *sg, struct node *root, struct errors *errors,
		uint64_t *visits) {
	struct reader reader = {.arena = sg->arena, .errors = errors, .visits = *visits};

	reader_read(&reader, service_group_keys, root, sg);
	*visits = reader.visits;
	if (!reader.stopped)
		service_group_check(sg, root, errors);
}
