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

/* From now on calls count, and the one of number `n` (from 0 on) fails once; below 0: none does. */
void faults_begin(long n);

/* Whether all allocations behind the call that fails do so, too; not at first. */
void faults_stay_short(bool on);

/* Calls count no more. Returns the name of the function that failed; NULL: none has. */
const char *faults_end(void);

/* How many calls counted since faults_begin(). */
long faults_counted(void);

/* Memory of the C library that this program holds: what was allocated by wrapped calls and not freed. */
struct faults_memory {
	size_t pieces, bytes;
};
struct faults_memory faults_memory(void);

/* Which of `calls` are tried: each where the environment has VCMTS_FAULTS=all, else about so many, from the first on.
 * Returns the step from one to the next. */
long faults_step(long calls, long about);
