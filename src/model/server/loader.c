/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads a server file: merges the keys of each group, reads them, and compares the groups with each
 * other. */
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "model/devices.h"
#include "model/file.h"
#include "model/keys/keys.h"
#include "model/layouts.h"
#include "model/load/group_reader.h"
#include "model/load/loader.h"
#include "model/load/reports.h"
#include "model/server/merge.h"
#include "model/server/server_reader.h"
#include "model/server_config.h"
#include "platform/secret/secret_memory.h"

/* One scope per item, and one per file of its own. */
_Static_assert(2 * SERVER_MAX_GROUPS <= ERRORS_SCOPES, "the scopes of all groups");

/* Merges all maps with keys of the group into one; NULL after an error that leaves none. */
static struct node *put_together(struct group_reading *group) {
	struct server_reader *server = group->server;
	struct node *maps[MERGE_MAX], *file, *root;
	struct key keys[KEYS_MAX];
	size_t count = 0;

	keys_of_item(keys);
	maps[count] = node_resolve(group->item);
	if (maps[count]->type != NODE_MAP) {
		reader_refuse(&group->reader, group->item, NULL, server_groups_key.item);
		return NULL;
	}
	reader_check_names(&group->reader, keys, maps[count]);
	file = node_present(maps[count++], group_file_key.name);
	if (file != NULL && !own_file_read(group, file))
		return NULL;
	if (file != NULL && !group->same)
		maps[count++] = group->own.root;
	maps[count++] = server->shared;
	root = merge_maps(group->reader.arena, service_group_keys, maps, count, group->item->line);
	if (root == NULL)
		errors_add_no_memory(server->errors);
	return root;
}

/* The default name of a group that has neither a name nor a file. */
static void name_group(struct service_group *sg) {
	char name[32];
	int length = snprintf(name, sizeof(name), "service-group-%u", sg->id);

	if (sg->name == NULL)
		sg->name = arena_text(sg->arena, name, (size_t)length);
}

/* The text, with the group's index in the file if there are several; NULL if memory is short. */
static char *device_text(const struct server_config *config, const struct service_group *sg,
			 const char *text) {
	char *made, *kept;

	if (config->group_count == 1)
		return arena_text(sg->arena, text, strlen(text));
	made = device_of_group(text, (size_t)(sg - config->groups));
	kept = made != NULL ? arena_text(sg->arena, made, strlen(made)) : NULL;
	free(made);
	return kept;
}

static void use_device(struct server_reader *server, struct service_group *sg,
		       struct port_config *port, const char *device) {
	if (device == NULL)
		return;
	port->device = device_text(server->config, sg, device);
	if (port->device == NULL)
		errors_add_no_memory(server->errors);
}

/* Called after the group's own checks, whose messages refer to the devices in the file. */
static void use_devices(struct server_reader *server, struct service_group *sg) {
	if (server->devices == NULL)
		return;
	use_device(server, sg, &sg->network, server->devices->network);
	use_device(server, sg, &sg->rphy_port, server->devices->rphy);
	use_device(server, sg, &sg->control_port, server->devices->control);
}

static void read_root(struct group_reading *group, struct node *root) {
	struct server_reader *server = group->server;
	uint64_t mistakes = server->errors->total + server->errors->repeated;
	struct load_cache_group *kept =
		server->kept != NULL ? &server->kept->groups[group->index] : NULL;

	group_read(group->sg, root, server->errors, &server->visits);
	name_group(group->sg);
	use_devices(server, group->sg);
	server->placed[group->index] = layouts_lines(group->sg, root);
	if (kept != NULL && kept->own_file)
		load_cache_record_threads(kept, &server->placed[group->index], group->own_line);
	/* values that the reader refused cannot be compared */
	if (server->errors->total + server->errors->repeated == mistakes)
		server_conflicts_add(server->conflicts, group->index, root);
}

/* Reuses the group of the previous load, which owns its memory until this load has succeeded. */
static void reuse_root(struct group_reading *group, struct node *root) {
	struct server_reader *server = group->server;
	const struct load_cache_group *before = &server->before->groups[group->index];
	struct load_cache_group *kept = &server->kept->groups[group->index];
	struct placed_group *placed = &server->placed[group->index];

	arena_free(group->sg->arena);
	*group->sg = server->before->config.groups[group->index];
	group->sg->threads = before->threads;
	*kept = *before;
	kept->same = true;
	*placed = layouts_lines(group->sg, root);
	load_cache_set_lines(before, placed, group->own_line);
	server_conflicts_add(server->conflicts, group->index, NULL);
}

static void read_group(struct server_reader *server, struct node *item, size_t index) {
	struct group_reading group = {
		.server = server,
		.item = item,
		.sg = &server->config->groups[index],
		.index = index,
		.reader = {.arena = arena_new(),
			   .errors = server->errors,
			   .visits = GROUP_ALIAS_VISITS},
	};
	struct node *root;

	group.sg->arena = arena_new();
	if (group.sg->arena == NULL || group.reader.arena == NULL) {
		errors_add_no_memory(server->errors);
	} else {
		root = put_together(&group);
		if (root != NULL && group.same)
			reuse_root(&group, root);
		else if (root != NULL)
			read_root(&group, root);
	}
	tree_free(&group.own);
	arena_free(group.reader.arena);
}

/* Gives list items line numbers of their own: their errors have the list's path as prefix. */
static void open_item(struct server_reader *server, struct node *item, size_t index,
		      const struct path *list) {
	struct path *up = &server->up[index];
	const struct errors_scope scope = {
		.file = server->path,
		.up = up,
		.first = server->next_line,
		.line = item->line,
	};

	*up = (struct path){.up = list, .index = index};
	errors_open_scope(server->errors, scope);
	server->next_line = tree_renumber(item, server->next_line);
}

static void read_groups(struct server_reader *server, const struct node *list) {
	static const struct path path = {.key = "service_groups"};
	struct server_config *config = server->config;
	size_t index = 0;

	config->groups = calloc(list->length, sizeof(config->groups[0]));
	server->conflicts = server_conflicts_new(config, list->length);
	if (config->groups == NULL || server->conflicts == NULL) {
		errors_add_no_memory(server->errors);
		return;
	}
	config->group_count = list->length;
	digest_devices(&server->shared_digest, server->devices, config->group_count);
	if (server->kept != NULL && !digest_node(&server->shared_digest, server->shared))
		server->kept = NULL; /* too many nodes for a digest */
	for (struct node *item = list->first; item != NULL; item = item->next)
		open_item(server, item, index++, &path);
	index = 0;
	/* when no visits are left, the reader has reported it */
	for (struct node *item = list->first; item != NULL && server->visits > 0; item = item->next)
		read_group(server, item, index++);
	server_conflicts_check(server->conflicts, server->errors);
}

/* Reads the limit of groups, which is at least their number. */
static void read_at_most(struct server_reader *server, struct reader *reader, size_t groups) {
	struct node *value = node_present(server->tree.root, server_max_groups_key.name);
	const struct path path = {.key = server_max_groups_key.name};
	char found[32], allowed[64];

	if (value == NULL)
		return;
	reader_read_one(reader, &server_max_groups_key, value, &server->config->max_groups, NULL);
	if (server->config->max_groups == 0 || server->config->max_groups >= groups)
		return;
	snprintf(found, sizeof(found), "\"%u\"", server->config->max_groups);
	snprintf(allowed, sizeof(allowed), "at least %zu, the length of the list", groups);
	errors_add(server->errors, value->line, &path, found, allowed);
}

/* Reads the list of groups and the other keys of a server. */
static void read_server(struct server_reader *server, struct node *list) {
	const struct path path = {.key = server_groups_key.name};
	struct reader reader = {
		.arena = server->tree.arena,
		.errors = server->errors,
		.visits = GROUP_ALIAS_VISITS,
	};
	struct node *name = node_present(server->tree.root, "name"), *groups = node_resolve(list);
	struct key keys[KEYS_MAX];
	char *text = NULL;

	keys_of_server(keys);
	reader_check_names(&reader, keys, server->tree.root);
	keys_of_all_groups(keys);
	server->shared = merge_maps(server->tree.arena, keys, &server->tree.root, 1, 1);
	if (server->shared == NULL) {
		errors_add_no_memory(server->errors);
		return;
	}
	if (name != NULL)
		reader_read_one(&reader, &server_name_key, name, &text, NULL);
	if (text == NULL)
		text = group_name_of(server->tree.arena, server->path);
	server->config->name = text != NULL ? strdup(text) : NULL;
	if (groups->type != NODE_LIST || groups->length < server_groups_key.min ||
	    groups->length > server_groups_key.max)
		reader_refuse(&reader, list, &path, &server_groups_key);
	else
		read_groups(server, groups);
	read_at_most(server, &reader, server->config->group_count);
}

/* Reads a file of one group as a server of one. */
static void read_one_group(struct server_reader *server) {
	struct server_config *config = server->config;
	struct service_group *sg;

	config->groups = calloc(1, sizeof(config->groups[0]));
	if (config->groups == NULL) {
		errors_add_no_memory(server->errors);
		return;
	}
	sg = config->groups;
	config->group_count = 1;
	sg->arena = arena_new();
	if (sg->arena == NULL) {
		errors_add_no_memory(server->errors);
		return;
	}
	sg->name = group_name_of(sg->arena, server->path);
	group_read(sg, server->tree.root, server->errors, &server->visits);
	use_devices(server, sg);
	server->placed[0] = layouts_lines(sg, server->tree.root);
	config->name = sg->name != NULL ? strdup(sg->name) : NULL;
}

static void read_file(struct server_reader *server) {
	struct server_config *config = server->config;
	struct node *list = node_present(server->tree.root, server_groups_key.name);

	server->visits = server->tree.nodes + GROUP_ALIAS_VISITS;
	if (server->tree.root->type == NODE_MAP)
		own_keys_read(server);
	if (list != NULL)
		read_server(server, list);
	else if (group_is_one(server->tree.root, server->errors))
		read_one_group(server);
	if (server->errors->total > 0)
		return;
	layouts_assign(server->placed, config->group_count, server->errors);
	config->main_core = config->groups[0].threads.main_core;
	for (size_t g = 0; g < config->group_count; g++) {
		if (config->name == NULL || config->groups[g].name == NULL)
			errors_add_no_memory(server->errors);
	}
}

int server_load(const struct server_source *source, const struct load_cache *before,
		struct load_cache *kept, struct server_config *config, FILE *errors) {
	struct errors mistakes = {.file = source->name};
	struct server_reader server = {
		.config = config,
		.errors = &mistakes,
		.files = source->files,
		.devices = source->devices,
		.path = source->name,
		.bytes_left = FILE_MAX - source->size,
		.next_line = (uint32_t)source->size + 2,
		.before = before,
		.kept = kept,
	};
	int count;

	*config = (struct server_config){0};
	if (tree_load(&server.tree, source->text, source->size, 1, &mistakes))
		read_file(&server);
	server_conflicts_free(server.conflicts);
	count = errors_print(&mistakes, errors); /* needs names that are in the tree */
	tree_free(&server.tree);
	for (size_t g = 0; count > 0 && kept != NULL && g < config->group_count; g++) {
		if (kept->groups[g].same) /* the previous load still owns it */
			config->groups[g].arena = NULL;
	}
	if (count > 0)
		server_config_free(config);
	/* returns the tree's memory to the system: it was several times as large as the file */
	malloc_trim(0);
	return count;
}

int server_config_load_text(const char *name, const char *text, size_t size,
			    const struct server_files *files, const struct server_devices *devices,
			    struct server_config *config, FILE *errors) {
	const struct server_source source = {name, text, size, files, devices};

	return server_load(&source, NULL, NULL, config, errors);
}

static char *read_from_disk(void *context, const char *path, size_t limit, size_t *size) {
	(void)context;
	return file_read(path, limit, true, size);
}

const struct server_files server_files_on_disk = {.read = read_from_disk};

int server_config_load_on(const char *path, const struct server_devices *devices,
			  struct server_config *config, FILE *errors) {
	size_t size;
	char *text = file_read_or_print(path, false, &size, errors);
	int count;

	*config = (struct server_config){0};
	if (text == NULL)
		return 1;
	count = server_config_load_text(path, text, size, &server_files_on_disk, devices, config,
					errors);
	secret_free(text);
	return count;
}

int server_config_load(const char *path, struct server_config *config, FILE *errors) {
	return server_config_load_on(path, NULL, config, errors);
}

void server_config_free_groups(struct server_config *config) {
	for (size_t g = 0; g < config->group_count; g++)
		service_group_free(&config->groups[g]);
	malloc_trim(0);
}

void server_config_free(struct server_config *config) {
	for (size_t g = 0; g < config->group_count; g++)
		service_group_free(&config->groups[g]);
	free(config->groups);
	free(config->name);
	free(config->metrics);
	*config = (struct server_config){0};
}
