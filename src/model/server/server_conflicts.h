/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks groups for conflicts: equal IDs, devices in two roles, and equal addresses or sessions on
 * a shared port. */
#pragma once

#include <stddef.h>

#include "model/errors.h"
#include "model/server_config.h"
#include "model/tree.h"

struct server_conflicts;

/* For `count` groups of `config`, which are not read yet. NULL if memory is short. */
struct server_conflicts *server_conflicts_new(const struct server_config *config, size_t count);

/* Adds the values of group `index`, which was read from `root` without errors. `root` is NULL if an
 * earlier load read the group; then its lines are unknown. */
void server_conflicts_add(struct server_conflicts *conflicts, size_t index, struct node *root);

/* Reports the conflicts between groups that were added. */
void server_conflicts_check(struct server_conflicts *conflicts, struct errors *errors);

/* `conflicts` may be NULL. */
void server_conflicts_free(struct server_conflicts *conflicts);
