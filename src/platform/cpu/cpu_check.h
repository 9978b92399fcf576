/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Checks that the CPU has the features that this build was compiled for. The check runs before all other code
 * of the process and its libraries, and itself runs on every CPU of the architecture. Without it, the first
 * missing instruction would end the process without a message.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CPU_MISSING_STATUS 2 /* exit status */

/* cpuid leaf, subleaf if it is not 0, and register; 81 is leaf 0x80000001. CPU_STATE: see below. */
enum cpu_word {
	CPU_1_ECX,
	CPU_7_EBX,
	CPU_7_ECX,
	CPU_81_ECX,
	CPU_7_1_EAX,
	CPU_7_1_EDX,
	CPU_STATE,
	CPU_WORDS
};

/* Bits of CPU_STATE: registers that the system saves for each process (XCR0). */
#define CPU_YMM 0x06u
#define CPU_ZMM 0xe6u

/* Feature words as cpuid returns them: of a CPU, or required by a build. */
struct cpu_words {
	uint32_t word[CPU_WORDS];
};

/* Features that the compiler was allowed to use for this build. */
extern const struct cpu_words cpu_needs;

/* Reads the features of this CPU; none unless it is x86. */
void cpu_read(struct cpu_words *has);

/*
 * Writes "NAME: this build needs SSE4.2, AVX2, which this CPU does not have" and a newline, cut to `size`
 * bytes. Returns the length; 0 if nothing is missing. Calls no library function, as no library is
 * initialised.
 */
size_t cpu_missing(const struct cpu_words *needs, const struct cpu_words *has, const char *name,
		   char *line, size_t size);

/* Ends the process with that line on stderr and CPU_MISSING_STATUS, if a feature is missing. */
void cpu_check(int argc, char **argv, char **environment);

/* Use it in the file of main(): registers the check in the linker's list that runs before all constructors. */
#define CPU_CHECK_FIRST                                                                        \
	__attribute__((section(".preinit_array"), used)) static void (*const cpu_check_first)( \
		int, char **, char **) = cpu_check;
