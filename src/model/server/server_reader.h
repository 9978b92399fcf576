/* SPDX-License-Identifier: BSD-3-Clause */
/* The state of a load: of the server, and of each group. For the loader's files alone. */
#pragma once

#include "model/layouts.h"
#include "model/load/reader.h"
#include "model/server/load_cache.h"
#include "model/server/server_conflicts.h"
#include "model/server_config.h"
#include "model/tree.h"

struct server_reader {
	struct server_config *config;
	struct errors *errors;
	const struct server_files *files;
	const struct server_devices *devices; /* override the groups' own; NULL: none */
	const char *path; /* of the server's file */
	struct tree tree; /* of the server's file */
	struct node *shared; /* its keys for all groups */
	size_t bytes_left; /* limit for all files together */
	uint64_t visits; /* see group_read() */
	uint32_t next_line; /* the first unused line number */
	struct path up[SERVER_MAX_GROUPS]; /* paths of the list's items */
	struct placed_group placed[SERVER_MAX_GROUPS];
	struct server_conflicts *conflicts;
	/* For a load that may reuse groups of the previous load; NULL: it may not. */
	const struct load_cache *before;
	struct load_cache *kept;
	struct digest shared_digest; /* of `shared` and the devices */
};

/* The state of one group while it is read. */
struct group_reading {
	struct server_reader *server;
	struct node *item;
	struct service_group *sg;
	size_t index;
	struct reader reader; /* lives as long as its arena */
	struct tree own; /* of its own file; without an arena: none */
	uint32_t own_line; /* first line of its own file */
	bool same; /* all input is unchanged: the group of the previous load is reused */
};

/* Reads the keys of the whole server and removes them from the tree of its file. */
void own_keys_read(struct server_reader *server);

/* Reads the group's own file, which `value` names, into a tree, unless it is unchanged. Returns
 * false after an error. */
bool own_file_read(struct group_reading *group, struct node *value);

extern const struct server_files server_files_on_disk;

/* Loads once and prints errors to `errors`. Returns their number. Reuses groups of `before` and
 * records groups in `kept`, unless these are NULL. */
int server_load(const struct server_source *source, const struct load_cache *before,
		struct load_cache *kept, struct server_config *config, FILE *errors);
