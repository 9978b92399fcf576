/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads a service group from a file: text, tree, structs, checks. */
#include "model/load/loader.h"

#include <stdlib.h>
#include <string.h>

#include "model/arena.h"
#include "model/errors.h"
#include "model/file.h"
#include "model/keys/keys.h"
#include "model/layouts.h"
#include "model/load/group_reader.h"
#include "model/tree.h"
#include "platform/secret/secret_memory.h"

static void read_tree(struct tree *tree, const char *file, struct service_group *sg,
		      struct errors *errors) {
	uint64_t visits = tree->nodes + GROUP_ALIAS_VISITS;
	struct placed_group placed;

	if (!group_is_one(tree->root, errors))
		return;
	group_remove_key(tree->root, &server_power_key, errors);
	group_remove_key(tree->root, &server_metrics_key, errors);
	group_remove_key(tree->root, &server_needs_version_key, errors);
	sg->name = group_name_of(sg->arena, file);
	if (sg->name == NULL)
		errors_add_no_memory(errors);
	group_read(sg, tree->root, errors, &visits);
	placed = layouts_lines(sg, tree->root);
	if (errors->total == 0)
		layouts_assign(&placed, 1, errors);
}

int service_group_load_text(const char *name, const char *text, size_t size,
			    struct service_group *sg, FILE *errors) {
	struct errors mistakes = {.file = name};
	struct tree tree;
	int count;

	*sg = (struct service_group){.arena = arena_new()};
	if (sg->arena == NULL)
		errors_add_no_memory(&mistakes);
	else if (tree_load(&tree, text, size, 1, &mistakes))
		read_tree(&tree, name, sg, &mistakes);
	if (sg->arena != NULL)
		tree_free(&tree);
	count = errors_print(&mistakes, errors);
	if (count > 0)
		service_group_free(sg);
	return count;
}

int service_group_load(const char *path, struct service_group *sg, FILE *errors) {
	size_t size;
	char *text = file_read_or_print(path, false, &size, errors);
	int count;

	*sg = (struct service_group){0};
	if (text == NULL)
		return 1;
	count = service_group_load_text(path, text, size, sg, errors);
	secret_free(text);
	return count;
}

void service_group_free(struct service_group *sg) {
	arena_free(sg->arena);
	*sg = (struct service_group){0};
}
