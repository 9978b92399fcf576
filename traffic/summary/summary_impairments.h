/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the summary for --impair. */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "directions/traffic.h"

/* Adds the members for impairments to the upstream's object. */
void summary_impairments_set(json_t *o, const struct uplink_result *r);

/* Prints the number of impairments by kind. */
void summary_impairments_hits(FILE *out, const struct uplink_result *r);

/* Prints these, and whether as many packets were lost as expected. */
void summary_impairments_print(FILE *out, const struct uplink_result *r);
