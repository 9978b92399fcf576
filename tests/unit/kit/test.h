/* SPDX-License-Identifier: BSD-3-Clause */
/* Includes cmocka, the headers that must precede it, and C library headers that most tests use. */
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

/* Iterations of a test with random input. The address sanitizer is slow, and a fifth suffices for it. */
#if defined(__SANITIZE_ADDRESS__)
#define RANDOM_ITERATIONS(n) ((n) / 5)
#else
#define RANDOM_ITERATIONS(n) (n)
#endif
