/* SPDX-License-Identifier: BSD-3-Clause */
/* Describes a value that is, or may be, a key, without revealing it. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#define SECRET_MIN_LENGTH 16 /* characters: a DES key */

/* Whether the text may contain a key: 16 characters in a row with at most two that are no hexadecimal digits.
 * That includes a key with a typo, but no addresses and devices. */
bool secret_like(const char *text, size_t length);

/* Describes a value without its characters: "32 characters, of which number 7 is no hexadecimal digit". */
void secret_describe(const char *text, size_t length, char *found, size_t size);
