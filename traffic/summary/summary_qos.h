/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a service group's summary for measured rates. */
#pragma once

#include <jansson.h>

#include "qos/meters.h"

/* docs/results.md has its keys. `shaped`: the sending rate changed over time. Returns NULL if
 * memory is short. */
json_t *summary_qos(const struct meters *q, bool shaped);
