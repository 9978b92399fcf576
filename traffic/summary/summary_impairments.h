/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of the summary that is there with --impair. */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "directions/traffic.h"

/* Adds "impairments", "expected" and "astray" to the upstream's object. */
void summary_impairments_set(json_t *o, const struct uplink_result *r);

/* Prints what was done. */
void summary_impairments_hits(FILE *out, const struct uplink_result *r);

/* Prints that, and whether as much was lost as had to be. */
void summary_impairments_print(FILE *out, const struct uplink_result *r);
