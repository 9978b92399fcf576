/* SPDX-License-Identifier: BSD-3-Clause */
/* What modems that wait for their grants have done, for programs and for people. */
#pragma once

#include <stdio.h>

#include <jansson.h>

#include "grants/grants_result.h"

/* Adds "grants" to the object of the upstream. */
void summary_grants_set(json_t *o, const struct grants_result *r);

void summary_grants_print(FILE *out, const struct grants_result *r);
