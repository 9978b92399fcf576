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

#define KIT_CORES 4
#define KIT_WORD 32
#define KIT_UNCORE "intel_uncore_frequency/package_00_die_01/"

struct kit_core {
	const char *driver, *governors;
	char governor[KIT_WORD], preference[KIT_WORD]; /* no preference: there is none */
	uint32_t hardware_min, hardware_max, min, max, speed, base;
	bool offline, speed_denied, governor_denied, limits_denied, min_denied, no_states;
	bool refuses_crossed; /* a maximum below the minimum, as older kernels do */
	unsigned late; /* reads of the maximum, after a write, that still have the former one */
	unsigned late_left, max_reads;
	uint32_t former_max;
	const char *related, *siblings;
};

struct kit_driver {
	struct kit_core cores[KIT_CORES];
	uint32_t uncore_max, uncore_min; /* 0: there is none */
	bool uncore_stays; /* whatever is written */
	bool uncore_cut; /* to 100 MHz, as Linux does */
	bool other_package; /* of all cores; the uncore is that of 0 */
	unsigned writes, crossed; /* all; limits that were written the wrong way round */
};

/* What stands in a file: a text, or else a number above 0. */
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
		   ours = strcmp(c->governor, "userspace") == 0,
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
		{"cpufreq/scaling_setspeed", userspace && !ours ? "<unsupported>" : NULL,
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

static uint32_t kit_clamp(uint32_t khz, uint32_t least, uint32_t most) {
	return khz > most ? most : khz < least ? least : khz;
}

static void kit_settle(struct kit_core *c) {
	const uint32_t step = 200000;

	if (!c->no_states)
		c->speed = (kit_clamp(c->speed, 800000, 1800000) + step - 1) / step * step;
	c->min = kit_clamp(c->min, 0, c->max);
	c->speed = kit_clamp(c->speed, c->min, c->max);
}

static int kit_write_core(struct kit_driver *d, struct kit_core *c, const char *name,
			  const char *text) {
	const bool governor = strcmp(name, "cpufreq/scaling_governor") == 0,
		   hint = strcmp(name, "cpufreq/energy_performance_preference") == 0,
		   speed = strcmp(name, "cpufreq/scaling_setspeed") == 0,
		   max = strcmp(name, "cpufreq/scaling_max_freq") == 0,
		   min = strcmp(name, "cpufreq/scaling_min_freq") == 0;
	const uint32_t khz = cpu_files_parse_khz(text);
	const uint32_t limit = kit_clamp(khz, c->hardware_min, c->hardware_max);

	if (c->offline)
		return -EBUSY;
	if (!(governor || speed || max || min || (hint && *c->preference != '\0')))
		return -ENOENT;
	if ((governor && c->governor_denied) || (speed && c->speed_denied) ||
	    ((max || min) && c->limits_denied) || (min && c->min_denied))
		return -EACCES;
	if ((governor && strstr(c->governors, text) == NULL) || (!governor && !hint && khz == 0) ||
	    (speed && strcmp(c->governor, "userspace") != 0) ||
	    (max && khz < c->min && c->refuses_crossed))
		return -EINVAL;
	if (governor || hint) {
		snprintf(governor ? c->governor : c->preference, KIT_WORD, "%s", text);
		return 0;
	}
	if (max) {
		c->former_max = c->max;
		c->late_left = c->late;
	}
	d->crossed += min && khz > c->max;
	*(speed ? &c->speed : min ? &c->min : &c->max) = speed ? khz : limit;
	kit_settle(c);
	return 0;
}

/* Of "cpu3/KEY". */
static struct kit_core *kit_core_of(struct kit_driver *d, const char *name, const char **key) {
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
	struct kit_core *c = kit_core_of(d, name, &key);

	text[0] = '\0';
	return c != NULL ? kit_read_core(d, c, key, text, size)
			 : kit_show(uncore, 2, name, text, size);
}

static int kit_write(void *ctx, const char *name, const char *text) {
	struct kit_driver *d = ctx;
	const char *key;
	struct kit_core *c = kit_core_of(d, name, &key);

	d->writes++;
	if (c != NULL)
		return kit_write_core(d, c, key, text);
	if (d->uncore_max == 0 || strcmp(name, KIT_UNCORE "max_freq_khz") != 0)
		return -ENOENT;
	if (!d->uncore_stays)
		d->uncore_max = cpu_files_parse_khz(text);
	if (d->uncore_cut)
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

/* A driver that chooses by itself between two limits. */
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
