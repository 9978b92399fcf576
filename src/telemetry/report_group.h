/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What groups have done, as JSON: of one group alone, or the sums over several, which leave out what
 * cannot be summed. `host` may be NULL: then cycles and times are left out. The caller owns the reference.
 */
#pragma once

#include <stdbool.h>

#include <jansson.h>

#include "model/server_config.h"
#include "platform/host.h"
#include "server/server.h"

/* Of at most SERVER_MAX_GROUPS groups, of which those that are not there are passed over; `all_flows` as in
 * report_scheduler_json(). `gone`: what others counted that went, or NULL. */
json_t *report_downstream(const struct served_group *groups, unsigned count,
			  const struct server_gone *gone, bool all_flows, const struct host *host);

/* NULL where none of the groups has an upstream, nor had. */
json_t *report_upstream(const struct served_group *groups, unsigned count,
			const struct server_gone *gone, const struct host *host);

/* All of a kind that the direction counts, by name. */
json_t *report_drops(const struct counters *c, enum direction direction);
json_t *report_counters(const struct counters *c, enum direction direction);

/* A number with three decimals, so that the same input gives the same text. */
json_t *report_real(double value);
