/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/idle/cpu.h"

#include <limits.h>
#include <stdio.h>

#if defined(__x86_64__) || defined(__i386__)
#include <cpuid.h>

#define WAITPKG (1u << 5)
#define MWAITX (1u << 29)

bool cpu_has_waitpkg(void) {
	unsigned a, b, c, d;

	return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (c & WAITPKG) != 0;
}

bool cpu_has_mwaitx(void) {
	unsigned a, b, c, d;

	return __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 && (c & MWAITX) != 0;
}
#else
bool cpu_has_waitpkg(void) {
	return false;
}

bool cpu_has_mwaitx(void) {
	return false;
}
#endif

#define FOLDER "/sys/devices/system/cpu/umwait_control"

static bool number_read(const char *folder, const char *name, uint32_t *value) {
	char path[PATH_MAX];
	int initial;
	FILE *f;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", folder, name) >= sizeof(path))
		return false;
	f = fopen(path, "r");
	if (f == NULL)
		return false;
	initial = fscanf(f, "%u", value);
	fclose(f);
	return initial == 1;
}

bool umwait_limit_read(const char *folder, struct umwait_limit *limit) {
	const char *where = folder != NULL ? folder : FOLDER;
	uint32_t c02;

	if (!number_read(where, "max_time", &limit->max_time) ||
	    !number_read(where, "enable_c02", &c02))
		return false;
	limit->c02 = c02 != 0;
	limit->known = true;
	return true;
}
