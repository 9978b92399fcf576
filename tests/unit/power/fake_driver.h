/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Drivers of cpufreq in the place of files, that do what the kernel's were seen to do: a speed between two states is
 * rounded up, one beyond the ends is clamped, garbage and a speed under another governor than `userspace` are refused, a
 * minimum above the maximum is taken as the maximum. The kernel takes limits over some time behind the write, and says
 * EBUSY of a core that is offline.
 */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "power/cpu_files.h"

#define FAKE_CORES 4

struct fake_core {
	const char *driver, *governors;
	char governor[32], preference[32];
	uint32_t hardware_min, hardware_max, min, max, speed, base;
	bool offline;
	bool speed_denied, governor_denied, limits_denied, min_denied, preference_there;
	bool no_states;
	bool refuses_crossed; /* a maximum below the minimum, as older kernels do */
	unsigned
		late; /* reads of the maximum, after one was written, that still have the former one */
	unsigned late_left, max_reads;
	uint32_t former_max;
	const char *related, *siblings;
};

struct fake_driver {
	struct fake_core cores[FAKE_CORES];
	uint32_t uncore_max, uncore_min; /* 0: there is none */
	bool uncore_stays; /* whatever is written */
	bool uncore_cut; /* to 100 MHz, as Linux does */
	unsigned package; /* of all cores; the uncore is that of 0 */
	unsigned writes, crossed; /* all; limits that were written the wrong way round */
};

static const uint32_t fake_states[] = {800000, 1000000, 1200000, 1400000, 1600000, 1800000};

static int fake_number(char *text, size_t size, uint32_t value) {
	snprintf(text, size, "%u", value);
	return 0;
}

/* What stands in a file of a core: a text, or else a number above 0. */
static int fake_show(const struct fake_core *c, const char *key, char *text, size_t size) {
	const bool userspace = strcmp(c->governor, "userspace") == 0;
	const struct {
		const char *key, *text;
		uint32_t khz;
	} files[] = {
		{"scaling_driver", c->driver},
		{"scaling_governor", c->governor},
		{"scaling_available_governors", c->governors},
		{"scaling_available_frequencies",
		 c->no_states ? NULL : "1800000 1600000 1400000 1200000 1000000 800000"},
		{"related_cpus", c->related},
		{"energy_performance_preference", c->preference_there ? c->preference : NULL},
		{"scaling_setspeed", userspace ? NULL : "<unsupported>", c->speed},
		{"cpuinfo_min_freq", NULL, c->hardware_min},
		{"cpuinfo_max_freq", NULL, c->hardware_max},
		{"cpuinfo_transition_latency", NULL, 10000},
		{"scaling_min_freq", NULL, c->min},
		{"scaling_max_freq", NULL, c->max},
		{"base_frequency", NULL, c->base},
	};

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
		if (strcmp(key, files[i].key) != 0)
			continue;
		if (files[i].text == NULL)
			return files[i].khz > 0 ? fake_number(text, size, files[i].khz) : -ENOENT;
		snprintf(text, size, "%s", files[i].text);
		return 0;
	}
	return -ENOENT;
}

static int fake_read_core(struct fake_core *c, const char *key, char *text, size_t size) {
	if (strcmp(key, "topology/thread_siblings_list") == 0) {
		snprintf(text, size, "%s", c->siblings != NULL ? c->siblings : "");
		return c->siblings != NULL ? 0 : -ENOENT;
	}
	if (strncmp(key, "cpufreq/", 8) != 0)
		return -ENOENT;
	if (c->offline)
		return -EBUSY;
	key += 8;
	c->max_reads += strcmp(key, "scaling_max_freq") == 0;
	if (strcmp(key, "scaling_max_freq") == 0 && c->late_left > 0) {
		c->late_left--;
		return fake_number(text, size, c->former_max);
	}
	if (strcmp(key, "scaling_setspeed") == 0 && strstr(c->governors, "userspace") == NULL)
		return -ENOENT;
	return fake_show(c, key, text, size);
}

static void fake_settle(struct fake_core *c) {
	unsigned s = 0;

	while (!c->no_states && s < 5 && fake_states[s] < c->speed)
		s++;
	c->speed = c->no_states ? c->speed : fake_states[s];
	c->speed = c->speed > c->max ? c->max : c->speed < c->min ? c->min : c->speed;
}

static int fake_write_limit(struct fake_driver *d, struct fake_core *c, uint32_t *limit,
			    uint32_t khz) {
	if (c->limits_denied || (limit == &c->min && c->min_denied))
		return -EACCES;
	if (khz == 0)
		return -EINVAL;
	khz = khz > c->hardware_max   ? c->hardware_max
	      : khz < c->hardware_min ? c->hardware_min
				      : khz;
	if (limit == &c->min && khz > c->max) {
		d->crossed++;
		khz = c->max;
	}
	if (limit == &c->max && khz < c->min && c->refuses_crossed)
		return -EINVAL;
	if (limit == &c->max) {
		c->former_max = c->max;
		c->late_left = c->late;
	}
	*limit = khz;
	c->min = c->min > c->max ? c->max : c->min;
	fake_settle(c);
	return 0;
}

static int fake_write_core(struct fake_driver *d, struct fake_core *c, const char *key,
			   const char *text) {
	uint32_t khz = cpu_files_parse_khz(text);

	d->writes++;
	if (strncmp(key, "cpufreq/", 8) != 0)
		return -ENOENT;
	if (c->offline)
		return -EBUSY;
	key += 8;
	if (strcmp(key, "scaling_governor") == 0) {
		if (c->governor_denied)
			return -EACCES;
		if (strstr(c->governors, text) == NULL)
			return -EINVAL;
		snprintf(c->governor, sizeof(c->governor), "%s", text);
		return 0;
	}
	if (strcmp(key, "scaling_max_freq") == 0)
		return fake_write_limit(d, c, &c->max, khz);
	if (strcmp(key, "scaling_min_freq") == 0)
		return fake_write_limit(d, c, &c->min, khz);
	if (strcmp(key, "energy_performance_preference") == 0 && c->preference_there) {
		snprintf(c->preference, sizeof(c->preference), "%s", text);
		return 0;
	}
	if (strcmp(key, "scaling_setspeed") == 0) {
		if (c->speed_denied)
			return -EACCES;
		if (khz == 0 || strcmp(c->governor, "userspace") != 0)
			return -EINVAL;
		c->speed = khz;
		fake_settle(c);
		return 0;
	}
	return -ENOENT;
}

/* "cpu3/KEY" */
static struct fake_core *fake_core_of(struct fake_driver *d, const char *name, const char **key) {
	unsigned core;
	int length = 0;

	if (sscanf(name, "cpu%u/%n", &core, &length) != 1 || length == 0 || core >= FAKE_CORES)
		return NULL;
	*key = name + length;
	return d->cores[core].driver != NULL ? &d->cores[core] : NULL;
}

#define FAKE_UNCORE "intel_uncore_frequency/package_00_die_01/"

static int fake_read(void *ctx, const char *name, char *text, size_t size) {
	struct fake_driver *d = ctx;
	const char *key;
	struct fake_core *c = fake_core_of(d, name, &key);

	text[0] = '\0';
	if (c != NULL && strcmp(key, "topology/physical_package_id") == 0)
		return fake_number(text, size, d->package);
	if (c != NULL)
		return fake_read_core(c, key, text, size);
	if (d->uncore_max != 0 && strcmp(name, FAKE_UNCORE "max_freq_khz") == 0)
		return fake_number(text, size, d->uncore_max);
	if (d->uncore_max != 0 && strcmp(name, FAKE_UNCORE "min_freq_khz") == 0)
		return fake_number(text, size, d->uncore_min);
	return -ENOENT;
}

static int fake_write(void *ctx, const char *name, const char *text) {
	struct fake_driver *d = ctx;
	const char *key;
	struct fake_core *c = fake_core_of(d, name, &key);

	if (c != NULL)
		return fake_write_core(d, c, key, text);
	if (d->uncore_max != 0 && strcmp(name, FAKE_UNCORE "max_freq_khz") == 0) {
		d->writes++;
		if (!d->uncore_stays)
			d->uncore_max = cpu_files_parse_khz(text);
		if (d->uncore_cut)
			d->uncore_max -= d->uncore_max % 100000;
		return 0;
	}
	return -ENOENT;
}

static inline struct cpu_files fake_files(struct fake_driver *d) {
	return (struct cpu_files){.read = fake_read, .write = fake_write, .ctx = d, .folder = -1};
}

static inline struct fake_core fake_acpi(void) {
	return (struct fake_core){
		.driver = "acpi-cpufreq",
		.governors = "conservative ondemand userspace powersave performance schedutil",
		.governor = "schedutil",
		.hardware_min = 800000,
		.hardware_max = 1800000,
		.min = 800000,
		.max = 1800000,
		.speed = 800000,
	};
}

/* A driver that chooses by itself between two limits. */
static inline struct fake_core fake_active(const char *driver) {
	return (struct fake_core){
		.driver = driver,
		.governors = "performance powersave",
		.governor = "powersave",
		.hardware_min = 800000,
		.hardware_max = 3500000,
		.min = 800000,
		.max = 3500000,
		.no_states = true,
		.preference_there = true,
		.preference = "balance_power",
	};
}
