/* SPDX-License-Identifier: BSD-3-Clause */
/* What is wrong with a JSON text, for a message: jansson's own words quote what stands there, which may be a key. */
#pragma once

#include <jansson.h>

#define JSON_FAULT_LINE 256

/* "invalid token at line 1, column 20", into `fault`, which it returns. */
const char *json_fault(const json_error_t *error, char fault[JSON_FAULT_LINE]);
