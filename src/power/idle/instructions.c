/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/idle/instructions.h"

#if defined(__x86_64__) || defined(__i386__)

#define MWAITX_TIMER 2u /* ECX: EBX has a timeout */
#define MWAITX_C1 0xf0u /* EAX: no deeper than C0 (AMD APM 3, MWAITX) */

uint64_t power_tsc(void) {
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

/* Encoded as bytes, as assemblers and targets without WAITPKG do not know the mnemonics. */
bool power_tpause(uint64_t deadline, enum tpause_state state) {
	bool limited;

	__asm__ volatile(".byte 0x66, 0x0f, 0xae, 0xf1" /* tpause %ecx */
			 : "=@ccc"(limited)
			 : "c"((uint32_t)state), "a"((uint32_t)deadline),
			   "d"((uint32_t)(deadline >> 32)));
	return limited;
}

void power_mwaitx(const volatile void *watched, uint32_t cycles) {
	__asm__ volatile(".byte 0x0f, 0x01, 0xfa" /* monitorx */ : : "a"(watched), "c"(0), "d"(0));
	__asm__ volatile(".byte 0x0f, 0x01, 0xfb" /* mwaitx */
			 :
			 : "a"(MWAITX_C1), "b"(cycles), "c"(MWAITX_TIMER)
			 : "memory");
}

void power_spin(uint64_t deadline) {
	while ((int64_t)(power_tsc() - deadline) < 0)
		__asm__ volatile("pause");
}

#else

uint64_t power_tsc(void) {
#if defined(__aarch64__)
	uint64_t now;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(now));
	return now;
#else
	return 0;
#endif
}

bool power_tpause(uint64_t deadline, enum tpause_state state) {
	(void)state;
	power_spin(deadline);
	return false;
}

void power_mwaitx(const volatile void *watched, uint32_t cycles) {
	(void)watched;
	power_spin(power_tsc() + cycles);
}

void power_spin(uint64_t deadline) {
	while ((int64_t)(power_tsc() - deadline) < 0) {
#if defined(__aarch64__)
		__asm__ volatile("yield");
#endif
	}
}

#endif
