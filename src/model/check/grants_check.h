/* SPDX-License-Identifier: BSD-3-Clause */
/* What the values of the upstream scheduler mean together; for the check of a group's upstream. */
#pragma once

#include "model/check/check.h"

/* An upstream channel as `map` has it. */
void grants_check_channel(struct check *check, const struct node *map,
			  const struct upstream_channel *channel, const struct path *up);

/* A service flow, likewise. */
void grants_check_flow(struct check *check, const struct node *map,
		       const struct upstream_service_flow *flow, const struct path *up);

/* Adds the channels' MAP sessions to those of the downstream, among which they are unique. */
void grants_add_sessions(struct check *check, struct node *root, struct unique_set *sessions);
