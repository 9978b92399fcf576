/* SPDX-License-Identifier: BSD-3-Clause */
/* Derives the required features from the compiler's own macros: compiled with the same flags as all other
 * code. Contains no functions. */
#include "platform/cpu/cpu_check.h"

/* A defined macro expands to 1, an undefined one to its own name. */
#define SPELT(macro) #macro
#if defined(__x86_64__)
#define IS_DEFINED(macro) (sizeof(SPELT(macro)) == sizeof("1"))
#else
#define IS_DEFINED(macro) false
#endif
#define FEATURE(macro, name, where, bit, state) \
	| (IS_DEFINED(macro) && (where) == WORD ? (uint32_t)1 << (bit) : 0)

const struct cpu_words cpu_needs = {{
#define WORD CPU_1_ECX
	[CPU_1_ECX] = 0
#include "platform/cpu/cpu_features.def"
	,
#undef WORD
#define WORD CPU_7_EBX
	[CPU_7_EBX] = 0
#include "platform/cpu/cpu_features.def"
	,
#undef WORD
#define WORD CPU_7_ECX
	[CPU_7_ECX] = 0
#include "platform/cpu/cpu_features.def"
	,
#undef WORD
#define WORD CPU_81_ECX
	[CPU_81_ECX] = 0
#include "platform/cpu/cpu_features.def"
	,
#undef WORD
#define WORD CPU_7_1_EAX
	[CPU_7_1_EAX] = 0
#include "platform/cpu/cpu_features.def"
	,
#undef WORD
#define WORD CPU_7_1_EDX
	[CPU_7_1_EDX] = 0
#include "platform/cpu/cpu_features.def"
}};
