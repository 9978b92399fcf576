/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes a JSON error for a message. jansson's text quotes the input, which may be a key. */
#pragma once

#include <jansson.h>

#define JSON_FAULT_LINE 256

/* Writes "invalid token at line 1, column 20" to `fault`, and returns it. */
const char *json_fault(const json_error_t *error, char fault[JSON_FAULT_LINE]);
