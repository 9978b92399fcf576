/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/cpus.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Parses a number at `*text` and advances it. Returns false if there is none, or it is CPU_SETSIZE or more. */
static bool parse_cpu(const char **text, unsigned long *cpu) {
	char *end;

	if (!isdigit((unsigned char)**text))
		return false;
	*cpu = strtoul(*text, &end, 10);
	*text = end;
	return *cpu < CPU_SETSIZE;
}

bool cpus_parse(const char *text, cpu_set_t *set) {
	unsigned long low, high;

	CPU_ZERO(set);
	while (*text != '\0') {
		if (!parse_cpu(&text, &low))
			return false;
		high = low;
		if (*text == '-') {
			text++;
			if (!parse_cpu(&text, &high) || high < low)
				return false;
		}
		for (; low <= high; low++)
			CPU_SET(low, set);
		if (*text == ',' && text[1] != '\0')
			text++;
		else if (*text != '\0')
			return false;
	}
	return true;
}

void cpus_format(const cpu_set_t *set, char *text, size_t size) {
	size_t used = 0;

	snprintf(text, size, "none");
	for (unsigned low = 0; low < CPU_SETSIZE; low++) {
		unsigned high = low;
		int written;

		if (!CPU_ISSET(low, set))
			continue;
		while (high + 1 < CPU_SETSIZE && CPU_ISSET(high + 1, set))
			high++;
		written = snprintf(text + used, size - used, high == low ? "%s%u" : "%s%u-%u",
				   used > 0 ? "," : "", low, high);
		if (written < 0 || (size_t)written >= size - used)
			return;
		used += (size_t)written;
		low = high;
	}
}

/* Reads a set from a file of the system; false if it is missing or invalid. */
static bool read_cpus(const char *name, cpu_set_t *set) {
	char path[64], line[CPUS_TEXT];
	FILE *f;
	bool good;

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/%s", name);
	f = fopen(path, "r");
	CPU_ZERO(set);
	if (f == NULL)
		return false;
	good = fgets(line, sizeof(line), f) != NULL;
	fclose(f);
	if (!good)
		return false;
	line[strcspn(line, "\n")] = '\0';
	if (cpus_parse(line, set))
		return true;
	CPU_ZERO(set);
	return false;
}

void cpus_allow_isolated(const cpu_set_t *isolated, cpu_set_t *allowed) {
	cpu_set_t own, requested, given;

	CPU_OR(&requested, allowed, isolated);
	if (CPU_EQUAL(&requested, allowed) || sched_getaffinity(0, sizeof(own), &own) != 0)
		return;
	/* the kernel grants the part that the cpuset allows */
	if (sched_setaffinity(0, sizeof(requested), &requested) != 0)
		return;
	if (sched_getaffinity(0, sizeof(given), &given) == 0)
		CPU_OR(allowed, allowed, &given);
	sched_setaffinity(0, sizeof(own), &own);
}

void cpus_read(struct cpus *cpus) {
	long count = sysconf(_SC_NPROCESSORS_CONF);
	cpu_set_t isolated;

	if (!read_cpus("present", &cpus->present)) {
		for (long cpu = 0; cpu < count && cpu < CPU_SETSIZE; cpu++)
			CPU_SET((unsigned)cpu, &cpus->present);
	}
	if (!read_cpus("online", &cpus->online))
		cpus->online = cpus->present;
	cpus->usable = cpus->online;
	if (sched_getaffinity(0, sizeof(cpus->usable), &cpus->usable) == 0 &&
	    read_cpus("isolated", &isolated))
		cpus_allow_isolated(&isolated, &cpus->usable);
	CPU_AND(&cpus->usable, &cpus->usable, &cpus->online);
}

enum cpu_fault cpus_fault(const struct cpus *cpus, unsigned core) {
	if (core < CPU_SETSIZE && CPU_ISSET(core, &cpus->usable))
		return CPU_IS_USABLE;
	if (core >= CPU_SETSIZE || !CPU_ISSET(core, &cpus->present))
		return CPU_IS_MISSING;
	return CPU_ISSET(core, &cpus->online) ? CPU_IS_NOT_ALLOWED : CPU_IS_OFFLINE;
}

const char *cpus_fault_text(enum cpu_fault fault) {
	static const char *const texts[] = {
		[CPU_IS_MISSING] = "the cores of this machine that may be used",
		[CPU_IS_OFFLINE] = "the cores that are online and may be used",
		[CPU_IS_NOT_ALLOWED] =
			"the cores that this process may use by its cpuset or affinity",
		[CPU_IS_USABLE] = "",
	};

	return texts[fault];
}
