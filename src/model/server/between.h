/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks groups for conflicts: equal IDs, devices in two roles, and equal addresses or sessions on
 * a shared port. */
#pragma once

#include <stddef.h>

#include "model/errors.h"
#include "model/server_config.h"
#include "model/tree.h"

struct between;

/* For `count` groups of `config`, which are not read yet. NULL if memory is short. */
struct between *between_new(const struct server_config *config, size_t count);

/* Adds the values of group `index`, which was read from `root` without errors. `root` is NULL if an
 * earlier load read the group; then its lines are unknown. */
void between_add(struct between *between, size_t index, struct node *root);

/* Reports the conflicts between groups that were added. */
void between_check(struct between *between, struct errors *errors);

/* `between` may be NULL. */
void between_free(struct between *between);
