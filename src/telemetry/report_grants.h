/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports the upstream schedulers: MAPs, grants and the use of each channel. */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "server/served_group.h"

/* {"maps", "late", .., "minislots": {kind: n}, "channels": [the same of each]}, see docs/results.md; for
 * several groups the sums, without channels. Returns NULL if no group has an upstream scheduler. The caller
 * owns the reference. */
json_t *report_grants_json(const struct served_group *groups, unsigned count);

/* Prints a few lines for a terminal; none if the group has no upstream scheduler. */
void report_grants_print(FILE *out, const struct served_group *g);
