/* SPDX-License-Identifier: BSD-3-Clause */
/* The metrics registry as JSON, for docs and tools. */
#pragma once

#include <jansson.h>

/* [{"name", "type", "unit", "labels": [..], "help", "wanted"}]; "wanted" is "always", or "modems" or "flows"
 * for samples on request. The caller owns it. */
json_t *metrics_describe(void);
