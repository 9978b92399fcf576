/* SPDX-License-Identifier: BSD-3-Clause */
/* What the downstream's scheduler has done: delays, channels, bonding groups, service flows. */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "scheduler/report.h"
#include "server/served_group.h"

enum report_flows {
	REPORT_NO_FLOWS, /* nor are they looked at, of which there may be 80,000 */
	REPORT_LOSING_FLOWS, /* those that have lost packets */
	REPORT_ALL_FLOWS,
};

/* {"delay", "channels", "bonding_groups"}, and "service_flows" but for REPORT_NO_FLOWS: docs/results.md. The caller owns
 * the reference. */
json_t *report_scheduler_json(const struct served_group *g, enum report_flows flows);

/* A few lines for a terminal; none where no packet came. */
void report_scheduler_print(FILE *out, const struct served_group *g);

/* A service flow, of which the scheduler reports this; as in `service_flows`. The caller owns the reference. */
json_t *report_flow_json(const struct service_flow *f, const struct scheduler_flow_report *r);
