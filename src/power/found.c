/* SPDX-License-Identifier: BSD-3-Clause */
#include "power/found.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "platform/log/log.h"
#include "power/found_kinds.h"
#include "power/process_start.h"

#define LATE_PAUSE_NS 50000
#define LATE_LOOKS 20u
#define PACKAGES 16u
#define DIES 8u
#define CLUSTERS 64u
#define USERSPACE "userspace"

/* One kind per entry, in the order of restoration per core: the governor comes first, as limits
 * then apply to it. */
const struct found_format found_formats[FOUND_KINDS] = {
	[FOUND_GOVERNOR] = {"scaling_governor", "cpu%u/cpufreq/scaling_governor", false},
	[FOUND_MAX] = {"scaling_max_freq", "cpu%u/cpufreq/scaling_max_freq", true},
	[FOUND_MIN] = {"scaling_min_freq", "cpu%u/cpufreq/scaling_min_freq", true},
	[FOUND_PREFERENCE] = {"energy_performance_preference",
			      "cpu%u/cpufreq/energy_performance_preference", false},
	[FOUND_SPEED] = {"scaling_setspeed", "cpu%u/cpufreq/scaling_setspeed", true},
	[FOUND_UNCORE] = {"uncore", "intel_uncore_frequency/package_%02u_die_%02u/max_freq_khz",
			  true},
	[FOUND_CLUSTER] = {"uncore_cluster", "intel_uncore_frequency/uncore%02u/max_freq_khz",
			   true},
};

/* Governors and preferences are words or numbers. */
bool found_value_holds(enum found_kind kind, const char *value) {
	size_t length = strlen(value);

	if (found_formats[kind].khz)
		return cpu_files_parse_khz(value) != 0;
	return length > 0 && length < FOUND_VALUE &&
	       strspn(value, "abcdefghijklmnopqrstuvwxyz0123456789_-") == length;
}

void found_name(const struct found_value *value, char name[CPU_FILES_NAME]) {
	/* The format is from the table; some formats use one number only. */
	_Pragma("GCC diagnostic push") _Pragma("GCC diagnostic ignored \"-Wformat-nonliteral\"");
	_Pragma("GCC diagnostic ignored \"-Wformat-extra-args\"");
	snprintf(name, CPU_FILES_NAME, found_formats[value->kind].format, value->a, value->b);
	_Pragma("GCC diagnostic pop");
}

void found_begin(struct found *found) {
	found->count = 0;
	found->pid = getpid();
	found->began = process_start(found->pid);
}

/* Skips missing files and implausible values. */
static int find(struct found *found, const struct cpu_files *f, enum found_kind kind, unsigned a,
		unsigned b) {
	struct found_value value = {.kind = kind, .a = a, .b = b};
	char name[CPU_FILES_NAME], text[CPU_FILES_TEXT];

	found_name(&value, name);
	if (f->read(f->ctx, name, text, sizeof(text)) != 0 || !found_value_holds(kind, text))
		return 0;
	if (found->count == FOUND_MOST)
		return -ENOSPC;
	memcpy(value.value, text, strlen(text) + 1);
	found->values[found->count++] = value;
	return 0;
}

int found_core(struct found *found, const struct cpu_files *f, unsigned core) {
	unsigned first = found->count;
	int fault = 0;

	for (enum found_kind kind = FOUND_GOVERNOR; kind < FOUND_SPEED && fault == 0; kind++)
		fault = find(found, f, kind, core, 0);
	if (fault == 0 && found->count > first && found->values[first].kind == FOUND_GOVERNOR &&
	    strcmp(found->values[first].value, USERSPACE) == 0)
		fault = find(found, f, FOUND_SPEED, core, 0);
	return fault;
}

bool found_has_core(const struct found *found, unsigned core) {
	for (unsigned i = 0; i < found->count; i++) {
		if (found->values[i].kind <= FOUND_SPEED && found->values[i].a == core)
			return true;
	}
	return false;
}

int found_uncore(struct found *found, const struct cpu_files *f) {
	int fault = 0;

	for (unsigned package = 0; package < PACKAGES && fault == 0; package++) {
		for (unsigned die = 0; die < DIES && fault == 0; die++)
			fault = find(found, f, FOUND_UNCORE, package, die);
	}
	for (unsigned cluster = 0; cluster < CLUSTERS && fault == 0; cluster++)
		fault = find(found, f, FOUND_CLUSTER, cluster, 0);
	return fault;
}

bool found_running(const struct found *found) {
	return found->began != 0 && process_start(found->pid) == found->began;
}

static bool is_as_found(const struct found_value *value, const struct cpu_files *f,
			const char *name) {
	char text[CPU_FILES_TEXT];

	return f->read(f->ctx, name, text, sizeof(text)) == 0 && strcmp(text, value->value) == 0;
}

/* The kernel applies a limit asynchronously and reports the former limit for a while. */
static bool becomes_as_found(const struct found_value *value, const struct cpu_files *f,
			     const char *name) {
	static const struct timespec pause = {.tv_nsec = LATE_PAUSE_NS};

	for (unsigned i = 0; i < LATE_LOOKS; i++) {
		if (is_as_found(value, f, name))
			return true;
		nanosleep(&pause, NULL);
	}
	return is_as_found(value, f, name);
}

/* Writes all values twice, as the driver refuses a minimum above the current maximum. */
unsigned found_restore(const struct found *found, const struct cpu_files *f) {
	char name[CPU_FILES_NAME];
	unsigned wrong = 0;

	for (unsigned attempt = 0; attempt < 2; attempt++) {
		for (unsigned i = 0; i < found->count; i++) {
			found_name(&found->values[i], name);
			if (!is_as_found(&found->values[i], f, name))
				f->write(f->ctx, name, found->values[i].value);
		}
	}
	for (unsigned i = 0; i < found->count; i++) {
		found_name(&found->values[i], name);
		if (becomes_as_found(&found->values[i], f, name))
			continue;
		wrong++;
		log_warning("power",
			    LOG_FIELDS(LOG_STRING("file", name),
				       LOG_STRING("value", found->values[i].value)),
			    "%s could not be restored to %s", name, found->values[i].value);
	}
	return wrong;
}
