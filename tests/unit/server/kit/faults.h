/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls that may fail, one of which does: allocations of this program, and what it asks of DPDK and the system. For tests
 * whose program is linked with faults_dep, which has those calls wrapped that a change of a server that runs may make.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* For a wrapped call: whether it is the one that fails. */
bool faults_fail(const char *function);

/* From now on calls count, and the one of number `n` (from 0 on) fails once; below 0: none does. `stays_short`: so do all
 * allocations behind it. */
void faults_begin(long n, bool stays_short);

/* Calls count no more. Returns the name of the function that failed, NULL where none has, and how many there were. */
const char *faults_end(long *calls);

/* Pieces of memory of the C library that this program holds: what was allocated by wrapped calls and not freed. */
size_t faults_memory(void);
