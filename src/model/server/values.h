/* SPDX-License-Identifier: BSD-3-Clause */
/* What must occur once among the groups of a port: addresses, MAC addresses of modems, sessions. */
#pragma once

#include <stddef.h>

#include "model/errors.h"
#include "model/server_config.h"
#include "model/tree.h"

struct values;

/* For the array `groups`, which is there but not read yet. NULL without memory. */
struct values *values_new(const struct service_group *groups);

/* Takes what the group `index` has, once it is read from `root` without mistakes. */
void values_add(struct values *values, size_t index, struct node *root);

/* Reports what occurs in two groups that nothing else tells apart. Once, when all are added. */
void values_check(struct values *values, struct errors *errors);

/* NULL is harmless. */
void values_free(struct values *values);
