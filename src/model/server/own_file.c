/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a group's own file into a tree, unless the file is unchanged since the previous load. */
#include <stdlib.h>
#include <string.h>

#include "model/file.h"
#include "model/keys/keys.h"
#include "model/load/group_reader.h"
#include "model/server/server_reader.h"
#include "platform/secret/secret_memory.h"

/* The path of `file`, relative to the folder of the server's file. NULL if memory is short. */
static char *path_of(struct server_reader *server, const char *file) {
	const char *slash = strrchr(server->path, '/');
	size_t folder = slash != NULL && file[0] != '/' ? (size_t)(slash - server->path) + 1 : 0;
	char *path = arena_alloc(server->tree.arena, folder + strlen(file) + 1, 1);

	if (path == NULL) {
		errors_add_no_memory(server->errors);
		return NULL;
	}
	memcpy(path, server->path, folder);
	strcpy(path + folder, file);
	return path;
}

/* Whether all input of the group is the same as in the previous load. For a part of the server's
 * file, `text` is its digest. */
static bool same_as_before(struct group_reading *group, const char *path, const void *text,
			   size_t size) {
	struct server_reader *server = group->server;
	struct load_cache_group *kept;

	if (server->kept == NULL)
		return false;
	kept = &server->kept->groups[group->index];
	kept->digest = server->shared_digest;
	kept->own_file = digest_node(&kept->digest, group->item);
	digest_text(&kept->digest, path, strlen(path));
	digest_text(&kept->digest, text, size);
	return kept->own_file && server->before != NULL &&
	       load_cache_group_same(&server->before->groups[group->index], kept);
}

/* Returns false after an error. The tree does not refer to the text. */
static bool load_own_tree(struct group_reading *group, const char *path, const char *text,
			  size_t size) {
	struct server_reader *server = group->server;
	const struct errors_scope scope = {
		.file = path,
		.first = server->next_line,
		.line = 1,
		.order = (uint32_t)group->index + 1,
	};

	errors_open_scope(server->errors, scope);
	group->own_line = scope.first;
	server->bytes_left -= size;
	server->next_line += (uint32_t)size + 2; /* a line has at least one byte */
	if (server->files->digest == NULL)
		group->same = same_as_before(group, path, text, size);
	if (group->same)
		return true;
	if (!tree_load(&group->own, text, size, scope.first, server->errors) ||
	    !group_is_one(group->own.root, server->errors))
		return false;
	server->visits += group->own.nodes;
	reader_check_names(&group->reader, service_group_keys, group->own.root);
	return true;
}

bool own_file_read(struct group_reading *group, struct node *value) {
	struct server_reader *server = group->server;
	const struct path key = {.key = group_file_key.name};
	const struct server_files *files = server->files;
	char *file = NULL, *path, *text;
	size_t size;
	bool good;

	reader_read_one(&group->reader, &group_file_key, value, &file, NULL);
	path = file != NULL ? path_of(server, file) : NULL;
	if (path == NULL)
		return false;
	if (files->digest != NULL &&
	    same_as_before(group, path, files->digest(files->context, path),
			   sizeof(struct digest))) {
		group->own_line = server->next_line++;
		group->same = true;
		return true;
	}
	text = files->read(files->context, path, server->bytes_left, &size);
	if (text == NULL) {
		file_report_error(server->errors, value->line, &key, path);
		return false;
	}
	good = load_own_tree(group, path, text, size);
	secret_free(text);
	if (!group->same && files->digest == NULL)
		group->sg->name = group_name_of(group->sg->arena, path);
	return good;
}
