/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/initial_settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "platform/log/log.h"
#include "power/initial_kinds.h"
#include "power/process_start.h"

#define LATE_PAUSE_NS 50000
#define READBACK_ATTEMPTS 20u
#define PACKAGES 16u
#define DIES 8u
#define CLUSTERS 64u
#define USERSPACE "userspace"

/* One kind per entry, in the order of restoration per core: the governor comes first, as limits
 * then apply to it. */
const struct initial_format initial_formats[INITIAL_KINDS] = {
	[INITIAL_GOVERNOR] = {"scaling_governor", "cpu%u/cpufreq/scaling_governor", false},
	[INITIAL_MAX] = {"scaling_max_freq", "cpu%u/cpufreq/scaling_max_freq", true},
	[INITIAL_MIN] = {"scaling_min_freq", "cpu%u/cpufreq/scaling_min_freq", true},
	[INITIAL_PREFERENCE] = {"energy_performance_preference",
				"cpu%u/cpufreq/energy_performance_preference", false},
	[INITIAL_SPEED] = {"scaling_setspeed", "cpu%u/cpufreq/scaling_setspeed", true},
	[INITIAL_UNCORE] = {"uncore", "intel_uncore_frequency/package_%02u_die_%02u/max_freq_khz",
			    true},
	[INITIAL_CLUSTER] = {"uncore_cluster", "intel_uncore_frequency/uncore%02u/max_freq_khz",
			     true},
};

/* Governors and preferences are words or numbers. */
bool initial_value_is_valid(enum initial_kind kind, const char *value) {
	size_t length = strlen(value);

	if (initial_formats[kind].khz)
		return cpu_files_parse_khz(value) != 0;
	return length > 0 && length < INITIAL_VALUE_SIZE &&
	       strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length;
}

void initial_file_name(const struct initial_value *value, char name[CPU_FILES_NAME]) {
	/* The format is from the table; some formats use one number only. */
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"");
	_Pragma("GCC diagnostic ignored \"-Wformat-extra-args\"");
	snprintf(name, CPU_FILES_NAME, initial_formats[value->kind].format, value->a, value->b);
	_Pragma("GCC diagnostic pop");
}

void initial_begin(struct initial_settings *initial) {
	initial->count = 0;
	initial->pid = getpid();
	initial->began = process_start(initial->pid);
}

/* Skips missing files and implausible values. */
static int find(struct initial_settings *initial, const struct cpu_files *f, enum initial_kind kind,
		unsigned a, unsigned b) {
	struct initial_value value = {.kind = kind, .a = a, .b = b};
	char name[CPU_FILES_NAME], text[CPU_FILES_TEXT];

	initial_file_name(&value, name);
	if (f->read(f->ctx, name, text, sizeof(text)) != 0 || !initial_value_is_valid(kind, text))
		return 0;
	if (initial->count == INITIAL_VALUES_MAX)
		return -ENOSPC;
	memcpy(value.value, text, strlen(text) + 1);
	initial->values[initial->count++] = value;
	return 0;
}

int initial_read_core(struct initial_settings *initial, const struct cpu_files *f, unsigned core) {
	unsigned first = initial->count;
	int fault = 0;

	for (enum initial_kind kind = INITIAL_GOVERNOR; kind < INITIAL_SPEED && fault == 0; kind++)
		fault = find(initial, f, kind, core, 0);
	if (fault == 0 && initial->count > first &&
	    initial->values[first].kind == INITIAL_GOVERNOR &&
	    strcmp(initial->values[first].value, USERSPACE) == 0)
		fault = find(initial, f, INITIAL_SPEED, core, 0);
	return fault;
}

bool initial_has_core(const struct initial_settings *initial, unsigned core) {
	for (unsigned i = 0; i < initial->count; i++) {
		if (initial->values[i].kind <= INITIAL_SPEED && initial->values[i].a == core)
			return true;
	}
	return false;
}

int initial_read_uncore(struct initial_settings *initial, const struct cpu_files *f) {
	int fault = 0;

	for (unsigned package = 0; package < PACKAGES && fault == 0; package++) {
		for (unsigned die = 0; die < DIES && fault == 0; die++)
			fault = find(initial, f, INITIAL_UNCORE, package, die);
	}
	for (unsigned cluster = 0; cluster < CLUSTERS && fault == 0; cluster++)
		fault = find(initial, f, INITIAL_CLUSTER, cluster, 0);
	return fault;
}

bool initial_owner_runs(const struct initial_settings *initial) {
	return initial->began != 0 && process_start(initial->pid) == initial->began;
}

static bool is_initial(const struct initial_value *value, const struct cpu_files *f,
		       const char *name) {
	char text[CPU_FILES_TEXT];

	return f->read(f->ctx, name, text, sizeof(text)) == 0 && strcmp(text, value->value) == 0;
}

/* The kernel applies a limit asynchronously and reports the former limit for a while. */
static bool becomes_initial(const struct initial_value *value, const struct cpu_files *f,
			    const char *name) {
	static const struct timespec pause = {.tv_nsec = LATE_PAUSE_NS};

	for (unsigned i = 0; i < READBACK_ATTEMPTS; i++) {
		if (is_initial(value, f, name))
			return true;
		nanosleep(&pause, NULL);
	}
	return is_initial(value, f, name);
}

/* Writes all values twice, as the driver refuses a minimum above the current maximum. */
unsigned initial_restore(const struct initial_settings *initial, const struct cpu_files *f) {
	char name[CPU_FILES_NAME];
	unsigned wrong = 0;

	for (unsigned attempt = 0; attempt < 2; attempt++) {
		for (unsigned i = 0; i < initial->count; i++) {
			initial_file_name(&initial->values[i], name);
			if (!is_initial(&initial->values[i], f, name))
				f->write(f->ctx, name, initial->values[i].value);
		}
	}
	for (unsigned i = 0; i < initial->count; i++) {
		initial_file_name(&initial->values[i], name);
		if (becomes_initial(&initial->values[i], f, name))
			continue;
		wrong++;
		log_warning("power",
			    LOG_FIELDS(LOG_STRING("file", name),
				       LOG_STRING("value", initial->values[i].value)),
			    "%s could not be restored to %s", name, initial->values[i].value);
	}
	return wrong;
}
