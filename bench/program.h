/* SPDX-License-Identifier: BSD-3-Clause */
/* What both benchmarks do as programs: numbers among their options, and what they store. */
#pragma once

#include <argp.h>
#include <jansson.h>

#include "platform/host.h"

/* The number in `text`, or an error of argp's where it is none from `low` to `high`. */
unsigned program_number(const char *text, unsigned low, unsigned high, struct argp_state *state);

/* `results`, which it takes over, and what they were measured on (docs/results.md). */
json_t *program_report(json_t *results, const struct host *host);
