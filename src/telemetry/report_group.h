/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports groups as JSON: one group, or sums over several groups without values that have no sum.
 * If `host` is NULL, cycles and times are omitted. */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "model/server_config.h"
#include "platform/host.h"
#include "server/server.h"

/* Covers at most SERVER_MAX_GROUPS groups; skips free slots. `all_flows` as in report_scheduler_json().
 * `removed`: counters of removed groups, or NULL. */
json_t *report_downstream(const struct served_group *groups, unsigned count,
			  const struct server_removed *removed, bool all_flows,
			  const struct host *host);

/* Returns NULL if no group, and no removed group, has an upstream. */
json_t *report_upstream(const struct served_group *groups, unsigned count,
			const struct server_removed *removed, const struct host *host);

/* All drop reasons or counters of the direction, by name. */
json_t *report_drops(const struct counters *c, enum direction direction);
json_t *report_counters(const struct counters *c, enum direction direction);

/* A number with three decimals, so that the same input gives the same text. */
json_t *report_real(double value);
