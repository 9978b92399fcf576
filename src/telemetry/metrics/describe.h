/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry as JSON, for docs and tools. */
#pragma once

#include <jansson.h>

/* [{"name", "type", "unit", "labels": [..], "help", "wanted"}], the last of which is "always", or on request
 * "modems" or "flows". The caller owns it. */
json_t *metrics_describe(void);
