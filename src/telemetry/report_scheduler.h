/* SPDX-License-Identifier: BSD-3-Clause */
/* What the downstream's scheduler has done: delays, channels, bonding groups, service flows. */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "server/served_group.h"

/*
 * {"delay", "channels", "bonding_groups", "service_flows"}: docs/results.md. Service flows are those
 * that have lost packets, or with `all_flows` all. The caller owns the reference.
 */
json_t *report_scheduler_json(const struct served_group *g, bool all_flows);

/* A few lines for a terminal; none where no packet came. */
void report_scheduler_print(FILE *out, const struct served_group *g);

/* The name under which a verdict's drops are counted; NULL for SCHEDULER_QUEUED. */
const char *report_verdict_name(enum scheduler_verdict verdict);
