/* SPDX-License-Identifier: BSD-3-Clause */
/* Instructions by which a core waits. Freestanding: no library, so that they can be tried on a bare emulated CPU. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Depths of TPAUSE: how long waking takes, and how much is saved (Intel SDM, TPAUSE). */
enum tpause_state {
	TPAUSE_C02 = 0, /* deeper: some 0.5 us to wake */
	TPAUSE_C01 = 1, /* some 0.2 us to wake */
};

/* The CPU's time stamp counter; 0 where there is none. */
uint64_t power_tsc(void);

/*
 * Waits until the TSC is `deadline`, or for as long as the system allows (IA32_UMWAIT_CONTROL, or an interrupt).
 * Returns whether it was the system's limit that ended it. Only on a CPU with WAITPKG.
 */
bool power_tpause(uint64_t deadline, enum tpause_state state);

/* Waits for `cycles` of the TSC, or until the line of `watched` is written. Only on a CPU with MWAITX. */
void power_mwaitx(const volatile void *watched, uint32_t cycles);

/* Waits until the TSC is `deadline`, with the hint for loops that wait. */
void power_spin(uint64_t deadline);
