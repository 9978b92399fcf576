/* SPDX-License-Identifier: BSD-3-Clause */
/* What upstream schedulers have done: MAPs, grants, and the use of each channel. */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "server/served_group.h"

/* {"maps", "late", .., "minislots": {kind: n}, "channels": [the same of each]}: docs/results.md; the sums of several, without
 * channels. NULL where none of them grants. The caller owns the reference. */
json_t *report_grants_json(const struct served_group *groups, unsigned count);

/* A few lines for a terminal; none where the group does not grant. */
void report_grants_print(FILE *out, const struct served_group *g);
