/* SPDX-License-Identifier: BSD-3-Clause */
/* Reads JSON texts while memory is short. */
#pragma once

#include <stddef.h>

#include <jansson.h>

/*
 * json_loadb() that returns the whole value or NULL. jansson ignores that its lexer could not store a byte of a string:
 * it would go on with a shorter string, or beyond the end of one whose closing quote is missing. After an allocation
 * that failed, all others of the same text fail, so that jansson gives up; `error`, which may be NULL, then says
 * json_error_out_of_memory. This takes secret_json_wipe().
 */
json_t *secret_json_load(const char *text, size_t size, size_t flags, json_error_t *error);
