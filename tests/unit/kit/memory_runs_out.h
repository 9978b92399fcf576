/* SPDX-License-Identifier: BSD-3-Clause */
/* For tests whose program has its allocations wrapped (memory_runs_out_dep): memory runs out at each. */
#pragma once

#include <stdbool.h>

/* Something that takes memory and gives it all back. Returns whether it was done. */
typedef bool attempt(void *context);

/* Does it with the first allocation failing, the second, and so on, until none does: who lacks memory says so, and
 * nothing is held behind it. Who `tries_again` may manage. */
void until_memory_suffices(attempt *try, void *context, bool tries_again);

/* The same of what does not try again. */
void with_little_memory(attempt *try, void *context);
