/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Reports groups as JSON: one group, or sums over several, which omit what cannot be summed. If `host` is
 * NULL, cycles and times are omitted. The caller owns the reference.
 */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "model/server_config.h"
#include "platform/host.h"
#include "server/server.h"

/* Covers at most SERVER_MAX_GROUPS groups; skips free slots. `all_flows` as in report_scheduler_json().
 * `gone`: counters of removed groups, or NULL. */
json_t *report_downstream(const struct served_group *groups, unsigned count,
			  const struct server_gone *gone, bool all_flows, const struct host *host);

/* Returns NULL if no group has, or had, an upstream. */
json_t *report_upstream(const struct served_group *groups, unsigned count,
			const struct server_gone *gone, const struct host *host);

/* All drop reasons or counters of the direction, by name. */
json_t *report_drops(const struct counters *c, enum direction direction);
json_t *report_counters(const struct counters *c, enum direction direction);

/* A number with three decimals, so that the same input gives the same text. */
json_t *report_real(double value);
