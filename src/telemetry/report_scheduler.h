/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports the downstream scheduler: delays, channels, bonding groups, service flows. */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "scheduler/report.h"
#include "server/served_group.h"

enum report_flows {
	REPORT_NO_FLOWS, /* omits flows, of which there may be 80,000 */
	REPORT_LOSING_FLOWS, /* only flows with drops */
	REPORT_ALL_FLOWS,
};

/* {"delay", "channels", "bonding_groups"}, and "service_flows" unless REPORT_NO_FLOWS: docs/results.md. The
 * caller owns the reference. */
json_t *report_scheduler_json(const struct served_group *g, enum report_flows flows);

/* Prints a few lines for a terminal; none without packets. */
void report_scheduler_print(FILE *out, const struct served_group *g);

/* A service flow and its scheduler report, as in `service_flows`. The caller owns the reference. */
json_t *report_flow_json(const struct service_flow *f, const struct scheduler_flow_report *r);
