/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads a tree into a service group: structs, then checks across values. */
#pragma once

#include <stdint.h>

#include "model/errors.h"
#include "model/keys/keys.h"
#include "model/load/reader.h"
#include "model/service_group.h"
#include "model/tree.h"

/* Limit of visits through aliases and shared keys, in addition to a file's own nodes. */
#define GROUP_ALIAS_VISITS 20000000

/* Reads the map `root` into `sg`, which has an arena and may have a name. Cores are not assigned
 * yet, see layouts.h. `visits` is the remaining limit of visits, and is updated. */
void group_read(struct service_group *sg, struct node *root, struct errors *errors,
		uint64_t *visits);

/* Removes a key of the server from the map at the top of a file, so that the rest is a group.
 * Returns its value; NULL if there is none. Reports a repeated key. */
struct node *group_remove_key(struct node *root, const struct key *key, struct errors *errors);

/* Returns false and reports `root` if it is no map, or a server's file with a list of groups. */
bool group_is_one(const struct node *root, struct errors *errors);

/* The default name of a group or server: that of its file, without folders and ending. */
char *group_name_of(struct arena *arena, const char *path);
