/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the CPU has what this build was compiled for. Asked before anything else of the process runs, also before the
 * libraries that are linked begin, by code that runs on every CPU of the architecture: else the first instruction that
 * is missing ends the process without a word.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPU_MISSING_STATUS 2 /* the exit status */

enum cpu_word { CPU_1_ECX, CPU_7_EBX, CPU_7_ECX, CPU_81_ECX, CPU_STATE, CPU_WORDS };

/* Of CPU_STATE: registers that the system keeps for each process (XCR0). */
#define CPU_YMM 0x06u
#define CPU_ZMM 0xe6u

/* Words of bits as cpuid has them: what a CPU has, or what a build needs. */
struct cpu_words {
	uint32_t word[CPU_WORDS];
};

/* What the compiler was allowed to use where this build was made. */
extern const struct cpu_words cpu_needs;

/* What this CPU has; nothing where it is no x86. */
void cpu_read(struct cpu_words *has);

/*
 * Writes "NAME: this build needs SSE4.2, AVX2, which this CPU does not have" and a new line, cut where it is longer than
 * `size`, and returns its length; 0 where nothing is missing. Calls nothing: no library has begun.
 */
size_t cpu_missing(const struct cpu_words *needs, const struct cpu_words *has, const char *name,
		   char *line, size_t size);

/* Ends the process with that line on standard error and CPU_MISSING_STATUS, where something is missing. */
void cpu_check(int argc, char **argv, char **environment);

/* To stand in the file of main(): the linker's list of what comes before all constructors. */
#define CPU_CHECK_FIRST                                                                        \
	__attribute__((section(".preinit_array"), used)) static void (*const cpu_check_first)( \
		int, char **, char **) = cpu_check;
