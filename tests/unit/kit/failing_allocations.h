/* SPDX-License-Identifier: BSD-3-Clause */
/* Runs a function repeatedly, each time with another allocation failing. kit/meson.build wraps the allocator. */
#pragma once

#include <stdbool.h>

/* A function that allocates, and frees everything before it returns. Returns whether it succeeded. */
typedef bool allocating_function(void *context);

/* Calls the function with the first allocation failing, then the second, until a call has no failure. Asserts that each
 * call frees all memory and returns false if an allocation failed. With `may_recover` it may return true. */
void fail_allocations(allocating_function *function, void *context, bool may_recover);

/* The same without recovery. */
void fail_each_allocation(allocating_function *function, void *context);
