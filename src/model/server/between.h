/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What groups must not have in common: ids, devices in two roles, and, on a port that they share, what tells
 * whose a packet is.
 */
#pragma once

#include <stddef.h>

#include "model/errors.h"
#include "model/server_config.h"
#include "model/tree.h"

struct between;

/* For `count` groups of `config`, which are there but not read yet. NULL without memory. */
struct between *between_new(const struct server_config *config, size_t count);

/* Takes what the group `index` has, once it is read from `root` without mistakes. NULL: it was read before, and no
 * line of it is known. */
void between_add(struct between *between, size_t index, struct node *root);

/* Reports, of the groups that were added, what two of them must not have. */
void between_check(struct between *between, struct errors *errors);

/* NULL is harmless. */
void between_free(struct between *between);
