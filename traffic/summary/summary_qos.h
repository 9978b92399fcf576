/* SPDX-License-Identifier: BSD-3-Clause */
/* The part of a service group's summary that tells what rates let through. */
#pragma once

#include <jansson.h>

#include "qos/meters.h"

/* docs/results.md has its keys. `shaped`: the rate of what was sent changed. NULL where memory is short. */
json_t *summary_qos(const struct meters *q, bool shaped);
