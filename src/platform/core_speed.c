/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/core_speed.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define PATH 512
#define CPUFREQ "%s/sys/devices/system/cpu/cpu%u/cpufreq/%s"
#define MSR "%s/dev/cpu/%u/msr"
#define MSR_PLATFORM_INFO 0xce /* bits 15:8: base frequency in units of 100 MHz */
#define KHZ_PER_RATIO 100000

static bool line_read(const char *root, unsigned core, const char *name, char line[PATH]) {
	char path[PATH];
	bool good;
	FILE *f;

	snprintf(path, sizeof(path), CPUFREQ, root, core, name);
	f = fopen(path, "r");
	if (f == NULL)
		return false;
	good = fgets(line, PATH, f) != NULL;
	fclose(f);
	return good;
}

static unsigned khz_read(const char *root, unsigned core, const char *name) {
	char line[PATH];
	unsigned khz;

	return line_read(root, core, name, line) && sscanf(line, "%u", &khz) == 1 ? khz : 0;
}

/* The highest frequency of this driver is the base frequency, plus 1 MHz if turbo is available. */
static unsigned acpi_khz(const char *root, unsigned core) {
	char driver[PATH];

	if (!line_read(root, core, "scaling_driver", driver) ||
	    strncmp(driver, "acpi-cpufreq", strlen("acpi-cpufreq")) != 0)
		return 0;
	return khz_read(root, core, "scaling_max_freq") / 2000 * 2000;
}

static unsigned msr_khz(const char *root, unsigned core) {
	char path[PATH];
	uint64_t info;
	bool good;
	int fd;

	snprintf(path, sizeof(path), MSR, root, core);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return 0;
	good = pread(fd, &info, sizeof(info), MSR_PLATFORM_INFO) == sizeof(info);
	close(fd);
	return good ? (unsigned)(info >> 8 & 0xff) * KHZ_PER_RATIO : 0;
}

bool core_speed_read(const char *root, unsigned core, struct core_speed *speed) {
	speed->now_khz = khz_read(root, core, "scaling_cur_freq");
	speed->base_khz = khz_read(root, core, "base_frequency");
	if (speed->base_khz == 0)
		speed->base_khz = acpi_khz(root, core);
	if (speed->base_khz == 0)
		speed->base_khz = msr_khz(root, core);
	return speed->now_khz != 0 && speed->base_khz != 0;
}
