/* SPDX-License-Identifier: BSD-3-Clause */
#pragma once

#include <jansson.h>

#include "simulation.h"

/* What a run counted, as docs/scheduler-simulation.md describes it. A new object, or NULL where memory
 * is short. */
json_t *result_json(const struct simulation *s);
