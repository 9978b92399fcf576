/* SPDX-License-Identifier: BSD-3-Clause */
/* From a server file to its groups: every group's keys put together, read, and held against the others'. */
#include <stdlib.h>
#include <string.h>

#include "model/devices.h"
#include "model/file.h"
#include "model/group_reader.h"
#include "model/keys.h"
#include "model/layouts.h"
#include "model/loader.h"
#include "model/server/between.h"
#include "model/server/merge.h"
#include "model/server_config.h"

#define NO_MEMORY "no memory left"
#define FITS "a file that fits the machine"

/* A scope for each item, and for each file of its own. */
_Static_assert(2 * SERVER_MAX_GROUPS <= ERRORS_SCOPES, "the scopes of all groups");

struct server_reader {
	struct server_config *config;
	struct errors *errors;
	const struct server_files *files;
	const struct server_devices *devices; /* instead of the groups' own; NULL: none */
	const char *path; /* of the server's file */
	struct tree tree; /* of the server's file */
	struct node *shared; /* what it says for all groups */
	size_t bytes_left; /* of all files together */
	uint64_t visits; /* see group_read() */
	uint32_t next_line; /* a number that no line has yet */
	struct path up[SERVER_MAX_GROUPS]; /* of what stands in the list */
	struct placed_group placed[SERVER_MAX_GROUPS];
	struct between *between;
};

/* Of one group, while it is read. */
struct group_reading {
	struct server_reader *server;
	struct node *item;
	struct service_group *sg;
	size_t index;
	struct reader reader; /* into an arena that lasts as long */
	struct tree own; /* of its own file; no arena: there is none */
};

static void refuse_memory(struct errors *errors) {
	errors_add(errors, 1, NULL, NO_MEMORY, FITS);
}

/* Where `file` is, from the folder of the server's file. NULL without memory. */
static char *path_of(struct server_reader *server, const char *file) {
	const char *slash = strrchr(server->path, '/');
	size_t folder = slash != NULL && file[0] != '/' ? (size_t)(slash - server->path) + 1 : 0;
	char *path = arena_alloc(server->tree.arena, folder + strlen(file) + 1, 1);

	if (path == NULL) {
		refuse_memory(server->errors);
		return NULL;
	}
	memcpy(path, server->path, folder);
	strcpy(path + folder, file);
	return path;
}

/* False after a mistake. The text is not needed any more once there is a tree of it. */
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
	server->bytes_left -= size;
	server->next_line += (uint32_t)size + 2; /* no line has less than a byte */
	if (!tree_load(&group->own, text, size, scope.first, server->errors) ||
	    !group_is_one(group->own.root, server->errors))
		return false;
	server->visits += group->own.nodes;
	reader_check_names(&group->reader, service_group_keys, group->own.root);
	return true;
}

/* The tree of the group's own file, and the group's name from it. False after a mistake. */
static bool read_own_file(struct group_reading *group, struct node *value) {
	struct server_reader *server = group->server;
	const struct path key = {.key = group_file_key.name};
	char *file = NULL, *path, *text;
	size_t size;
	bool good;

	reader_read_one(&group->reader, &group_file_key, value, &file, NULL);
	path = file != NULL ? path_of(server, file) : NULL;
	if (path == NULL)
		return false;
	text = server->files->read(server->files->context, path, server->bytes_left, &size);
	if (text == NULL) {
		file_refuse(server->errors, value->line, &key);
		return false;
	}
	good = load_own_tree(group, path, text, size);
	free(text);
	group->sg->name = group_name_of(group->sg->arena, path);
	return good;
}

/* What is said of the group in all places, as one map; NULL after a mistake that leaves none. */
static struct node *put_together(struct group_reading *group) {
	struct server_reader *server = group->server;
	struct node *maps[MERGE_MOST], *file, *root;
	struct key keys[KEYS_MOST];
	size_t count = 0;

	keys_of_item(keys);
	maps[count] = node_resolve(group->item);
	if (maps[count]->type != NODE_MAP) {
		reader_refuse(&group->reader, group->item, NULL, server_groups_key.item);
		return NULL;
	}
	reader_check_names(&group->reader, keys, maps[count]);
	file = node_present(maps[count++], group_file_key.name);
	if (file != NULL && !read_own_file(group, file))
		return NULL;
	if (file != NULL)
		maps[count++] = group->own.root;
	maps[count++] = server->shared;
	root = merge_maps(group->reader.arena, service_group_keys, maps, count, group->item->line);
	if (root == NULL)
		refuse_memory(server->errors);
	return root;
}

/* A name for people, of a group that has neither one nor a file. */
static void name_group(struct service_group *sg) {
	char name[32];
	int length = snprintf(name, sizeof(name), "service-group-%u", sg->id);

	if (sg->name == NULL)
		sg->name = arena_text(sg->arena, name, (size_t)length);
}

/* The text, with the group's place in the file where there are several; NULL when memory is short. */
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
		refuse_memory(server->errors);
}

/* Behind the group's own checks, which tell of what the file says. */
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

	group_read(group->sg, root, server->errors, &server->visits);
	name_group(group->sg);
	use_devices(server, group->sg);
	server->placed[group->index] = layouts_lines(group->sg, root);
	/* values that were refused cannot be held against others */
	if (server->errors->total + server->errors->repeated == mistakes)
		between_add(server->between, group->index, root);
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
		refuse_memory(server->errors);
	} else {
		root = put_together(&group);
		if (root != NULL)
			read_root(&group, root);
	}
	tree_free(&group.own);
	arena_free(group.reader.arena);
}

/* The items of the list get line numbers of their own: their mistakes have the list's path before them. */
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
	server->between = between_new(config, list->length);
	if (config->groups == NULL || server->between == NULL) {
		refuse_memory(server->errors);
		return;
	}
	config->group_count = list->length;
	for (struct node *item = list->first; item != NULL; item = item->next)
		open_item(server, item, index++, &path);
	index = 0;
	/* what none may visit any more has been reported */
	for (struct node *item = list->first; item != NULL && server->visits > 0; item = item->next)
		read_group(server, item, index++);
	between_check(server->between, server->errors);
}

/* As many groups as there may be: not fewer than there are. */
static void read_most(struct server_reader *server, struct reader *reader, size_t groups) {
	struct node *value = node_present(server->tree.root, server_max_groups_key.name);
	const struct path path = {.key = server_max_groups_key.name};
	char found[32], allowed[64];

	if (value == NULL)
		return;
	reader_read_one(reader, &server_max_groups_key, value, &server->config->max_groups, NULL);
	if (server->config->max_groups == 0 || server->config->max_groups >= groups)
		return;
	snprintf(found, sizeof(found), "\"%u\"", server->config->max_groups);
	snprintf(allowed, sizeof(allowed), "%zu or more, as many as the list has", groups);
	errors_add(server->errors, value->line, &path, found, allowed);
}

/* The list of groups, and what else a server has. */
static void read_server(struct server_reader *server, struct node *list) {
	const struct path path = {.key = server_groups_key.name};
	struct reader reader = {
		.arena = server->tree.arena,
		.errors = server->errors,
		.visits = GROUP_ALIAS_VISITS,
	};
	struct node *name = node_present(server->tree.root, "name"), *groups = node_resolve(list);
	struct key keys[KEYS_MOST];
	char *text = NULL;

	keys_of_server(keys);
	reader_check_names(&reader, keys, server->tree.root);
	keys_of_all_groups(keys);
	server->shared = merge_maps(server->tree.arena, keys, &server->tree.root, 1, 1);
	if (server->shared == NULL) {
		refuse_memory(server->errors);
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
	read_most(server, &reader, server->config->group_count);
}

/* A file of one group is a server of one. */
static void read_one_group(struct server_reader *server) {
	struct server_config *config = server->config;
	struct service_group *sg;

	config->groups = calloc(1, sizeof(config->groups[0]));
	if (config->groups == NULL) {
		refuse_memory(server->errors);
		return;
	}
	sg = config->groups;
	config->group_count = 1;
	sg->arena = arena_new();
	if (sg->arena == NULL) {
		refuse_memory(server->errors);
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
	if (list != NULL)
		read_server(server, list);
	else if (group_is_one(server->tree.root, server->errors))
		read_one_group(server);
	if (server->errors->total > 0)
		return;
	layouts_deal(server->placed, config->group_count, server->errors);
	config->main_core = config->groups[0].threads.main_core;
	for (size_t g = 0; g < config->group_count; g++) {
		if (config->name == NULL || config->groups[g].name == NULL)
			refuse_memory(server->errors);
	}
}

int server_config_load_text(const char *name, const char *text, size_t size,
			    const struct server_files *files, const struct server_devices *devices,
			    struct server_config *config, FILE *errors) {
	struct errors mistakes = {.file = name};
	struct server_reader server = {
		.config = config,
		.errors = &mistakes,
		.files = files,
		.devices = devices,
		.path = name,
		.bytes_left = FILE_MOST - size,
		.next_line = (uint32_t)size + 2,
	};
	int count;

	*config = (struct server_config){0};
	if (tree_load(&server.tree, text, size, 1, &mistakes))
		read_file(&server);
	between_free(server.between);
	count = errors_print(&mistakes, errors); /* needs names that are in the tree */
	tree_free(&server.tree);
	if (count > 0)
		server_config_free(config);
	return count;
}

static char *read_from_disk(void *context, const char *path, size_t most, size_t *size) {
	(void)context;
	return file_read(path, most, true, size);
}

int server_config_load_on(const char *path, const struct server_devices *devices,
			  struct server_config *config, FILE *errors) {
	static const struct server_files disk = {.read = read_from_disk};
	size_t size;
	char *text = file_read_or_tell(path, &size, errors);
	int count;

	*config = (struct server_config){0};
	if (text == NULL)
		return 1;
	count = server_config_load_text(path, text, size, &disk, devices, config, errors);
	free(text);
	return count;
}

int server_config_load(const char *path, struct server_config *config, FILE *errors) {
	return server_config_load_on(path, NULL, config, errors);
}

void server_config_free(struct server_config *config) {
	for (size_t g = 0; g < config->group_count; g++)
		service_group_free(&config->groups[g]);
	free(config->groups);
	free(config->name);
	*config = (struct server_config){0};
}
