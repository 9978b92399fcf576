/* SPDX-License-Identifier: BSD-3-Clause */
/* What a message may say of a value that is a key, or may be one: how long it is, and where it is wrong. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SECRET_SHORTEST 16 /* characters: a DES key */

/* Whether the text may hold a key: 16 characters in a row of which all but two are hexadecimal digits. A key with a
 * mistyped digit is one, addresses and devices are none. */
bool secret_like(const char *text, size_t length);

/* Describes a value without its characters: "32 characters, of which number 7 is no hexadecimal digit". */
void secret_describe(const char *text, size_t length, char *found, size_t size);
