/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks across the values of the upstream scheduler, for the check of a group's upstream. */
#pragma once

#include "model/check/check.h"

/* Checks an upstream channel; `map` is its map. */
void grants_check_channel(struct check *check, const struct node *map,
			  const struct upstream_channel *channel, const struct path *up);

/* Checks a service flow; `map` is its map. */
void grants_check_flow(struct check *check, const struct node *map,
		       const struct upstream_service_flow *flow, const struct path *up);

/* Adds the channels' MAP sessions to those of the downstream, among which they must be unique. */
void grants_add_sessions(struct check *check, struct node *root, struct unique_set *sessions);
