/* SPDX-License-Identifier: BSD-3-Clause */
/* Wait instructions of the CPU, and the kernel's limits for them. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* TPAUSE and UMWAIT (CPUID 7.ECX bit 5). */
bool cpu_has_waitpkg(void);

/* MWAITX with its timer (CPUID 0x80000001.ECX bit 29). */
bool cpu_has_mwaitx(void);

/* The settings of /sys/devices/system/cpu/umwait_control. */
struct umwait_limit {
	bool known; /* the settings were read */
	uint32_t max_time; /* TSC cycles of one wait; 0: no limit */
	bool c02; /* C0.2 is allowed; otherwise the CPU uses C0.1 */
};

/* Reads the settings from `folder` (NULL: the machine's). Returns false if they are missing or invalid. */
bool umwait_limit_read(const char *folder, struct umwait_limit *limit);
