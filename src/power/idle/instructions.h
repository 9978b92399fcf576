/* SPDX-License-Identifier: BSD-3-Clause */
/* Wait instructions of the CPU. Freestanding, so that tests can run them on a bare emulated CPU. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* States of TPAUSE: time to wake and power saved (Intel SDM, TPAUSE). */
enum tpause_state {
	TPAUSE_C02 = 0, /* deeper: about 0.5 us to wake */
	TPAUSE_C01 = 1, /* about 0.2 us to wake */
};

/* The time stamp counter; 0 if there is none. */
uint64_t power_tsc(void);

/* Waits until the TSC is `deadline`, the system's limit is reached (IA32_UMWAIT_CONTROL), or an
 * interrupt. Returns whether the system's limit ended it. Requires WAITPKG. */
bool power_tpause(uint64_t deadline, enum tpause_state state);

/* Waits for `cycles` of the TSC, or until the cache line of `watched` is written. Requires MWAITX. */
void power_mwaitx(const volatile void *watched, uint32_t cycles);

/* Spins until the TSC is `deadline`, with the CPU's spin-wait hint. */
void power_spin(uint64_t deadline);
