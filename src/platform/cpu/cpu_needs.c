/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled as all else is, so that the compiler's own macros say what it may use. There is no code here. */
#include "platform/cpu/cpu_check.h"

/* A macro that is there is 1; one that is not is its name. */
#define SPELT(macro) #macro
#if defined(__x86_64__)
#define IS_THERE(macro) (sizeof(SPELT(macro)) == sizeof("1"))
#else
#define IS_THERE(macro) false
#endif
#define FEATURE(macro, name, where, bit, state) \
	| (IS_THERE(macro) && (where) == WORD ? (uint32_t)1 << (bit) : 0)

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
}};
