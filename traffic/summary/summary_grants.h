/* SPDX-License-Identifier: BSD-3-Clause */
/* Summary of scheduled modems as JSON and as a table. */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "grants/grants_result.h"

/* Adds "grants" to the upstream's object. */
void summary_grants_set(json_t *o, const struct grants_result *r);

void summary_grants_print(FILE *out, const struct grants_result *r);
