/* SPDX-License-Identifier: BSD-3-Clause */
/* Which service groups there are, and which one a question is about. */
#pragma once

#include <rte_telemetry.h>

#include "server/server.h"

/* The answer of /vcmts/groups: by ID, name and what is in it. */
int telemetry_service_groups(struct server *s, const char *params, struct rte_tel_data *d);

/*
 * The group that the parameters name by group=ID, which is taken from them; where they name none, the
 * only one. NULL where that is not one group. `params` may point to NULL, and does where nothing is left.
 */
struct served_group *telemetry_group_of(struct server *s, const char **params);

/* The answer is an error that tells which groups there are. Returns 0. */
int telemetry_complain_group(const struct server *s, struct rte_tel_data *d);
