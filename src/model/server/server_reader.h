/* SPDX-License-Identifier: BSD-3-Clause */
/* What is read of a server and of each group while a load lasts. For the loader's files alone. */
#pragma once

#include "model/layouts.h"
#include "model/load/reader.h"
#include "model/server/between.h"
#include "model/server/kept.h"
#include "model/server_config.h"
#include "model/tree.h"

#define NO_MEMORY "no memory left"
#define FITS "a file that fits the machine"

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
	/* Of a load that may take groups from the one before; NULL: it may not. */
	const struct kept_groups *before;
	struct kept_groups *kept;
	struct digest shared_digest; /* of `shared` and the devices */
};

/* Of one group, while it is read. */
struct group_reading {
	struct server_reader *server;
	struct node *item;
	struct service_group *sg;
	size_t index;
	struct reader reader; /* into an arena that lasts as long */
	struct tree own; /* of its own file; no arena: there is none */
	uint32_t own_line; /* the first of its own file */
	bool same; /* its own file and all else that is said of it: it is taken as it is */
};

/* What is the whole server's, which is taken out of the tree of its file. */
void own_keys_read(struct server_reader *server);

/* The group's own file, which `value` names: its tree, unless it is the same as before. False after a mistake. */
bool own_file_read(struct group_reading *group, struct node *value);

extern const struct server_files server_files_on_disk;

/*
 * One load; returns the number of mistakes, which go to `errors`. Groups are taken from `before` and remembered in
 * `kept`, unless these are NULL.
 */
int server_load(const struct server_source *source, const struct kept_groups *before,
		struct kept_groups *kept, struct server_config *config, FILE *errors);
