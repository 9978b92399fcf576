/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The initial frequency settings of the machine, saved in a file before any change. `vcmtsd power restore`,
 * which the systemd unit calls, and the next start restore them after a crash. The file contains words of a
 * table and small numbers, no paths: a forged file can only write files of that table.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "power/cpu_files.h"

#define FOUND_MOST 1024 /* values */
#define FOUND_VALUE 32 /* bytes of a value, with its terminator */
#define FOUND_CORES 1024 /* core numbers are lower */
#define FOUND_FILE_MOST 65536 /* bytes */
#define FOUND_LINE 256 /* bytes of an error message */

enum found_kind {
	FOUND_GOVERNOR,
	FOUND_MAX,
	FOUND_MIN,
	FOUND_PREFERENCE, /* energy_performance_preference */
	FOUND_SPEED, /* of the governor userspace */
	FOUND_UNCORE, /* of a package and die */
	FOUND_CLUSTER, /* the same with a newer driver */
	FOUND_KINDS,
};

struct found_value {
	enum found_kind kind;
	unsigned a, b; /* core; package and die; cluster */
	char value[FOUND_VALUE];
};

struct found {
	/* The process that changes the settings; the PID alone is ambiguous, as the kernel reuses
	 * it. */
	pid_t pid;
	uint64_t began; /* start time, clock ticks since boot */
	unsigned count;
	struct found_value values[FOUND_MOST]; /* in the order of restoration */
};

/* Initializes an empty set of this process. */
void found_begin(struct found *found);

/* Reads the settings of a core, or of the whole uncore; call once for each. Returns 0, or -ENOSPC. */
int found_core(struct found *found, const struct cpu_files *f, unsigned core);
int found_uncore(struct found *found, const struct cpu_files *f);

bool found_has_core(const struct found *found, unsigned core);

/* The name of its file below the root. */
void found_name(const struct found_value *value, char name[CPU_FILES_NAME]);

/* Writes the file atomically. Returns 0 or a negative errno. */
int found_save(const struct found *found, const char *path);

/* Returns 0, or -1 with a message in `fault`. The file must belong to the user or root, and must not be
 * writable by others. */
int found_load(struct found *found, const char *path, char fault[FOUND_LINE]);

/* Parses `size` bytes at `text`, which ends in '\0'; otherwise like found_load(). */
int found_parse(struct found *found, char *text, size_t size, char fault[FOUND_LINE]);

/* Whether the process that saved the settings still runs. */
bool found_running(const struct found *found);

/* Writes the saved values and reads them back. Returns the number of values that differ, and logs
 * each. */
unsigned found_restore(const struct found *found, const struct cpu_files *f);
