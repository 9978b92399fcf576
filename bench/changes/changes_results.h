/* SPDX-License-Identifier: BSD-3-Clause */
/* Results of a run as JSON (docs/results.md). */
#pragma once

#include <jansson.h>

#include "bed.h"
#include "driver.h"

/* Result of an ended run. The caller owns it. */
json_t *result_json(const struct bed *b);

/* Adds the figures of the driver, of `count` requests, to `found`, which may be NULL. */
void driver_json(const struct driver *d, uint64_t count, unsigned milliseconds, json_t *found);
