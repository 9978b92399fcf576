/* SPDX-License-Identifier: BSD-3-Clause */
/* Fault injection: makes one call fail of those that allocate memory or use DPDK or the system. For
 * programs linked with faults_dep, which wraps the calls that changes of a running server make. */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Called by each wrapper: counts the call and returns whether it must fail. */
bool faults_call_fails(const char *function);

/* Starts to count calls. Call number `n`, from 0, fails; none if `n` is negative. With
 * `stays_short`, all later allocations fail, too. */
void faults_begin(long n, bool stays_short);

/* Stops counting. Returns the name of the function that failed, or NULL, and sets `*calls` (may be
 * NULL) to the number of calls. */
const char *faults_end(long *calls);

/* Number of allocations by wrapped calls of the C library that are not freed. */
size_t faults_allocations(void);
