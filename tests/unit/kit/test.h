/* SPDX-License-Identifier: BSD-3-Clause */
/* cmocka, the headers that it wants before itself, and those of the C library that most tests use. */
#pragma once

/* clang-format off */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>
/* clang-format on */

#define ARRAY_COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Turns of a loop at random. What the sanitizers look for shows in a part of them, which takes as long there. */
#if defined(__SANITIZE_ADDRESS__)
#define RANDOM_TURNS(n) ((n) / 5)
#else
#define RANDOM_TURNS(n) (n)
#endif
