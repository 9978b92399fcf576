/* SPDX-License-Identifier: BSD-3-Clause */
/* From a file to a service group: text, tree, structs, meaning. */
#include "model/loader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "model/arena.h"
#include "model/check.h"
#include "model/errors.h"
#include "model/keys.h"
#include "model/reader.h"
#include "model/tree.h"

#define MAX_FILE (UINT64_C(1) << 30)
#define MAX_ALIAS_VISITS 20000000
#define LONGEST_NAME 64
#define NAME_LETTERS "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

/* The file's name without folders and ending, as far as it can be a name. */
static char *stem(struct arena *arena, const char *path) {
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

static void read_tree(struct tree *tree, const char *file, struct service_group *sg,
		      struct errors *errors) {
	struct reader reader = {
		.arena = sg->arena,
		.errors = errors,
		.visits = tree->nodes + MAX_ALIAS_VISITS,
	};

	if (tree->root->type != NODE_MAP) {
		errors_add(errors, tree->root->line, NULL, "no map", "the keys of a service group");
		return;
	}
	reader_read(&reader, service_group_keys, tree->root, sg);
	if (reader.stopped)
		return;
	if (sg->name == NULL)
		sg->name = stem(sg->arena, file);
	if (sg->name == NULL)
		errors_add(errors, 1, NULL, "no memory left", "a file that fits the machine");
	service_group_check(sg, tree->root, errors);
}

int service_group_load_text(const char *name, const char *text, size_t size,
			    struct service_group *sg, FILE *errors) {
	struct errors mistakes = {.file = name};
	struct tree tree;
	int count;

	*sg = (struct service_group){.arena = arena_new()};
	if (sg->arena == NULL)
		errors_add(&mistakes, 1, NULL, "no memory left", "a file that fits the machine");
	else if (tree_load(&tree, text, size, &mistakes))
		read_tree(&tree, name, sg, &mistakes);
	if (sg->arena != NULL)
		tree_free(&tree);
	count = errors_print(&mistakes, errors);
	if (count > 0)
		service_group_free(sg);
	return count;
}

/* The whole file, to be freed; NULL with errno set. */
static char *read_file(const char *path, size_t *size) {
	FILE *file = fopen(path, "rb");
	size_t room = 1u << 16;
	char *text = NULL, *larger;

	*size = 0;
	if (file == NULL)
		return NULL;
	while (!feof(file)) {
		errno = room > MAX_FILE ? EFBIG : 0;
		larger = errno == 0 ? realloc(text, room) : NULL;
		if (larger == NULL)
			break;
		text = larger;
		*size += fread(text + *size, 1, room - *size, file);
		if (ferror(file))
			break;
		if (*size == room)
			room *= 2;
	}
	if (!feof(file)) {
		int reason = errno;

		free(text);
		text = NULL;
		errno = reason;
	}
	fclose(file);
	return text;
}

int service_group_load(const char *path, struct service_group *sg, FILE *errors) {
	size_t size;
	char *text = read_file(path, &size);
	int count;

	if (text == NULL) {
		struct errors mistakes = {.file = path};
		char found[128];

		snprintf(found, sizeof(found), "no readable file (%s)", strerror(errno));
		errors_add(&mistakes, 1, NULL, found, "a YAML file of at most 1 GiB");
		*sg = (struct service_group){0};
		return errors_print(&mistakes, errors);
	}
	count = service_group_load_text(path, text, size, sg, errors);
	free(text);
	return count;
}

void service_group_free(struct service_group *sg) {
	arena_free(sg->arena);
	*sg = (struct service_group){0};
}
