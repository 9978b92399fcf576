/* SPDX-License-Identifier: BSD-3-Clause */
/* Simulated cpufreq drivers behind `struct cpu_files`. They behave like the kernel's: a speed is
 * rounded up to a state and clamped. Invalid text, and a speed without governor `userspace`, is
 * rejected. A minimum above the maximum is lowered. Limits may apply late. Offline cores: EBUSY. */
#pragma once

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "power/cpu_files.h"

#define KIT_CORES 4
#define KIT_WORD 32
#define KIT_UNCORE "intel_uncore_frequency/package_00_die_01/"

struct kit_core {
	const char *driver, *governors;
	char governor[KIT_WORD], preference[KIT_WORD]; /* "": no energy preference */
	uint32_t hardware_min, hardware_max, min, max, speed, base; /* kHz; base 0: no such file */
	bool offline, speed_denied, governor_denied, limits_denied, min_denied, no_states;
	bool rejects_crossed; /* rejects a maximum below the minimum, as older kernels do */
	unsigned late; /* reads of the maximum that return the former one after a write */
	unsigned late_left; /* reads of `former_max` to come */
	unsigned max_reads; /* all reads of the maximum */
	uint32_t former_max;
	const char *related, *siblings; /* lists of cores; NULL: no such file */
};

struct kit_driver {
	struct kit_core cores[KIT_CORES];
	uint32_t uncore_max, uncore_min; /* kHz; 0: no such file */
	bool uncore_ignores_writes; /* writes have no effect */
	bool uncore_rounds; /* rounds down to 100 MHz, as Linux does */
	bool other_package; /* all cores are in package 1; the uncore is that of package 0 */
	unsigned writes, crossed; /* all writes; minimums written above the maximum */
};

/* The content of a file: `text`, or if that is NULL `khz` unless it is 0. */
struct kit_file {
	const char *name, *text;
	uint32_t khz;
};

static int kit_show(const struct kit_file *file, unsigned count, const char *name, char *text,
		    size_t size) {
	for (; count > 0; count--, file++) {
		if (strcmp(name, file->name) != 0 || (file->text == NULL && file->khz == 0))
			continue;
		if (file->text != NULL)
			snprintf(text, size, "%s", file->text);
		else
			snprintf(text, size, "%u", file->khz);
		return 0;
	}
	return -ENOENT;
}

static int kit_read_core(const struct kit_driver *d, struct kit_core *c, const char *name,
			 char *text, size_t size) {
	const bool userspace = strstr(c->governors, "userspace") != NULL,
		   is_userspace = strcmp(c->governor, "userspace") == 0,
		   limit = strcmp(name, "cpufreq/scaling_max_freq") == 0,
		   late = limit && c->late_left > 0;
	const struct kit_file files[] = {
		{"topology/physical_package_id", d->other_package ? "1" : "0"},
		{"topology/thread_siblings_list", c->siblings},
		{"cpufreq/scaling_driver", c->driver},
		{"cpufreq/scaling_governor", c->governor},
		{"cpufreq/scaling_available_governors", c->governors},
		{"cpufreq/scaling_available_frequencies",
		 c->no_states ? NULL : "1800000 1600000 1400000 1200000 1000000 800000"},
		{"cpufreq/related_cpus", c->related},
		{"cpufreq/energy_performance_preference", *c->preference ? c->preference : NULL},
		{"cpufreq/scaling_setspeed", userspace && !is_userspace ? "<unsupported>" : NULL,
		 userspace ? c->speed : 0},
		{"cpufreq/cpuinfo_min_freq", NULL, c->hardware_min},
		{"cpufreq/cpuinfo_max_freq", NULL, c->hardware_max},
		{"cpufreq/cpuinfo_transition_latency", NULL, 10000},
		{"cpufreq/scaling_min_freq", NULL, c->min},
		{"cpufreq/scaling_max_freq", NULL, late ? c->former_max : c->max},
		{"cpufreq/base_frequency", NULL, c->base},
	};

	if (c->offline && strncmp(name, "cpufreq/", 8) == 0)
		return -EBUSY;
	c->max_reads += limit;
	c->late_left -= late;
	return kit_show(files, sizeof(files) / sizeof(files[0]), name, text, size);
}

static uint32_t kit_clamp(uint32_t khz, uint32_t min, uint32_t max) {
	return khz > max ? max : khz < min ? min : khz;
}

static void kit_settle(struct kit_core *c) {
	const uint32_t step = 200000;

	if (!c->no_states)
		c->speed = (kit_clamp(c->speed, 800000, 1800000) + step - 1) / step * step;
	c->min = kit_clamp(c->min, 0, c->max);
	c->speed = kit_clamp(c->speed, c->min, c->max);
}

enum kit_key { KIT_GOVERNOR, KIT_HINT, KIT_SPEED, KIT_MAX, KIT_MIN, KIT_KEYS };

static enum kit_key kit_key_parse(const char *name) {
	static const char *const names[KIT_KEYS] = {
		[KIT_GOVERNOR] = "cpufreq/scaling_governor",
		[KIT_HINT] = "cpufreq/energy_performance_preference",
		[KIT_SPEED] = "cpufreq/scaling_setspeed",
		[KIT_MAX] = "cpufreq/scaling_max_freq",
		[KIT_MIN] = "cpufreq/scaling_min_freq",
	};
	enum kit_key key = 0;

	while (key < KIT_KEYS && strcmp(name, names[key]) != 0)
		key++;
	return key;
}

static bool kit_denied(const struct kit_core *c, enum kit_key key) {
	switch (key) {
	case KIT_GOVERNOR: return c->governor_denied;
	case KIT_SPEED: return c->speed_denied;
	case KIT_MAX: return c->limits_denied;
	case KIT_MIN: return c->limits_denied || c->min_denied;
	default: return false;
	}
}

static bool kit_accepts(const struct kit_core *c, enum kit_key key, const char *text,
			uint32_t khz) {
	switch (key) {
	case KIT_GOVERNOR: return strstr(c->governors, text) != NULL;
	case KIT_SPEED: return khz != 0 && strcmp(c->governor, "userspace") == 0;
	case KIT_MAX: return khz != 0 && (khz >= c->min || !c->rejects_crossed);
	case KIT_MIN: return khz != 0;
	default: return true;
	}
}

static void kit_set_khz(struct kit_driver *d, struct kit_core *c, enum kit_key key, uint32_t khz) {
	const uint32_t limit = kit_clamp(khz, c->hardware_min, c->hardware_max);

	if (key == KIT_MAX) {
		c->former_max = c->max;
		c->late_left = c->late;
		c->max = limit;
	} else if (key == KIT_MIN) {
		d->crossed += khz > c->max;
		c->min = limit;
	} else {
		c->speed = khz;
	}
	kit_settle(c);
}

static int kit_write_core(struct kit_driver *d, struct kit_core *c, const char *name,
			  const char *text) {
	const enum kit_key key = kit_key_parse(name);
	const uint32_t khz = cpu_files_parse_khz(text);

	if (c->offline)
		return -EBUSY;
	if (key == KIT_KEYS || (key == KIT_HINT && *c->preference == '\0'))
		return -ENOENT;
	if (kit_denied(c, key))
		return -EACCES;
	if (!kit_accepts(c, key, text, khz))
		return -EINVAL;
	if (key == KIT_GOVERNOR || key == KIT_HINT)
		snprintf(key == KIT_GOVERNOR ? c->governor : c->preference, KIT_WORD, "%s", text);
	else
		kit_set_khz(d, c, key, khz);
	return 0;
}

/* The core of a file name "cpu3/KEY"; sets `key`. NULL: no such core. */
static struct kit_core *kit_core_find(struct kit_driver *d, const char *name, const char **key) {
	unsigned core;
	int length = 0;

	if (sscanf(name, "cpu%u/%n", &core, &length) != 1 || length == 0 || core >= KIT_CORES)
		return NULL;
	*key = name + length;
	return d->cores[core].driver != NULL ? &d->cores[core] : NULL;
}

static int kit_read(void *ctx, const char *name, char *text, size_t size) {
	struct kit_driver *d = ctx;
	const struct kit_file uncore[] = {{KIT_UNCORE "max_freq_khz", NULL, d->uncore_max},
					  {KIT_UNCORE "min_freq_khz", NULL, d->uncore_min}};
	const char *key;
	struct kit_core *c = kit_core_find(d, name, &key);

	text[0] = '\0';
	return c != NULL ? kit_read_core(d, c, key, text, size)
			 : kit_show(uncore, 2, name, text, size);
}

static int kit_write(void *ctx, const char *name, const char *text) {
	struct kit_driver *d = ctx;
	const char *key;
	struct kit_core *c = kit_core_find(d, name, &key);

	d->writes++;
	if (c != NULL)
		return kit_write_core(d, c, key, text);
	if (d->uncore_max == 0 || strcmp(name, KIT_UNCORE "max_freq_khz") != 0)
		return -ENOENT;
	if (!d->uncore_ignores_writes)
		d->uncore_max = cpu_files_parse_khz(text);
	if (d->uncore_rounds)
		d->uncore_max -= d->uncore_max % 100000;
	return 0;
}

static inline struct cpu_files kit_files(struct kit_driver *d) {
	return (struct cpu_files){.read = kit_read, .write = kit_write, .ctx = d, .folder = -1};
}

static inline struct kit_core kit_acpi(void) {
	return (struct kit_core){
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

/* An active driver, which chooses the speed between two limits. */
static inline struct kit_core kit_active(const char *driver) {
	return (struct kit_core){
		.driver = driver,
		.governors = "performance powersave",
		.governor = "powersave",
		.hardware_min = 800000,
		.hardware_max = 3500000,
		.min = 800000,
		.max = 3500000,
		.no_states = true,
		.preference = "balance_power",
	};
}
