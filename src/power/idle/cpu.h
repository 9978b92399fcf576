/* SPDX-License-Identifier: BSD-3-Clause */
/* What the CPU has for waiting, and what the kernel allows of it. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* TPAUSE and UMWAIT (CPUID 7.ECX bit 5). */
bool cpu_has_waitpkg(void);

/* MWAITX with its timer (CPUID 0x80000001.ECX bit 29). */
bool cpu_has_mwaitx(void);

/* What /sys/devices/system/cpu/umwait_control says. */
struct umwait_limit {
	bool known; /* it was read */
	uint32_t max_time; /* TSC cycles of one wait; 0: no limit */
	bool c02; /* C0.2 is allowed; else a wait for it is one in C0.1 */
};

/* Reads it from the folder `folder` (NULL: the machine's). Returns false where there is none, or it says something else. */
bool umwait_limit_read(const char *folder, struct umwait_limit *limit);
