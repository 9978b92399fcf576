/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <jansson.h>

#include "simulation.h"

/* The counts of a run as docs/scheduler.md describes them. Returns a new object, or NULL if memory
 * is short. */
json_t *result_json(const struct simulation *s);
