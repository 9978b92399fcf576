/* SPDX-License-Identifier: BSD-3-Clause */
/* What the downstream's scheduler has done: delays, channels, bonding groups, service flows. */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "server/instance.h"

/*
 * {"delay", "channels", "bonding_groups", "service_flows"}: docs/results.md. Service flows are those
 * that have lost packets, or all where the instance is told so. The caller owns the reference.
 */
json_t *report_scheduler_json(const struct instance *i);

/* A few lines for a terminal; none where no packet came. */
void report_scheduler_print(FILE *out, const struct instance *i);

/* The name under which a verdict's drops are counted; NULL for SCHEDULER_QUEUED. */
const char *report_verdict_name(enum scheduler_verdict verdict);
