/* SPDX-License-Identifier: BSD-3-Clause */
/* From a tree to a service group: structs, then what their values mean together. */
#pragma once

#include <stdint.h>

#include "model/errors.h"
#include "model/keys/keys.h"
#include "model/load/reader.h"
#include "model/service_group.h"
#include "model/tree.h"

/* What a file may visit through aliases, and through what groups have in common, beside its own nodes. */
#define GROUP_ALIAS_VISITS 20000000

/*
 * Reads the map `root` into `sg`, whose arena is there and whose name may be. Its cores are not dealt
 * out yet, see layouts.h. `visits` is what may still be visited, and becomes what is left.
 */
void group_read(struct service_group *sg, struct node *root, struct errors *errors,
		uint64_t *visits);

/*
 * Takes what is a server's and no group's out of the map at the top of a file, so that the rest is a group: the value of
 * that key, or NULL where there is none. The key again is reported.
 */
struct node *group_take_out(struct node *root, const struct key *key, struct errors *errors);

/* Reports `root` where it cannot be one service group, but perhaps a list of them: false. */
bool group_is_one(const struct node *root, struct errors *errors);

/* The name of a group or server whose file says none: the file's, without folders and ending. */
char *group_name_of(struct arena *arena, const char *path);
