/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks values that must be unique among the groups of a port: addresses, MAC addresses of modems,
 * sessions. */
#pragma once

#include <stddef.h>

#include "model/errors.h"
#include "model/server_config.h"
#include "model/tree.h"

struct values;

/* For the array `groups`, which is not read yet. NULL if memory is short. */
struct values *values_new(const struct service_group *groups);

/* Adds the values of group `index`, once it is read from `root` without errors. */
void values_add(struct values *values, size_t index, struct node *root);

/* Reports equal values of two groups on the same side. Call it once, after all groups are added. */
void values_check(struct values *values, struct errors *errors);

/* `values` may be NULL. */
void values_free(struct values *values);
