/* SPDX-License-Identifier: BSD-3-Clause */
/* Loads JSON texts safely when memory is short. */
#pragma once

#include <stddef.h>

#include <jansson.h>

/*
 * json_loadb() that returns the whole value or NULL. jansson ignores that its lexer could not store a byte of
 * a string: it would continue with a shorter string, or read beyond a missing closing quote. After a failed
 * allocation, all further ones for the text fail, so that jansson stops; `error`, which may be NULL, then has
 * json_error_out_of_memory. Requires secret_json_wipe().
 */
json_t *secret_json_load(const char *text, size_t size, size_t flags, json_error_t *error);
