/* SPDX-License-Identifier: BSD-3-Clause */
/* What a run has found, as JSON (docs/results.md). */
#pragma once

#include <jansson.h>

#include "bed.h"
#include "driver.h"

/* Of a run that has ended. The caller owns it. */
json_t *result_json(const struct bed *b);

/* What was asked for in it and answered, into `found`, which may be NULL. */
void driver_json(const struct driver *d, uint64_t count, unsigned milliseconds, json_t *found);
