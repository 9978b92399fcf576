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

#define INITIAL_VALUES_MAX 1024 /* values */
#define INITIAL_VALUE_SIZE 32 /* bytes of a value, with its terminator */
#define INITIAL_CORES 1024 /* core numbers are lower */
#define INITIAL_FILE_MAX 65536 /* bytes */
#define INITIAL_LINE 256 /* bytes of an error message */

enum initial_kind {
	INITIAL_GOVERNOR,
	INITIAL_MAX,
	INITIAL_MIN,
	INITIAL_PREFERENCE, /* energy_performance_preference */
	INITIAL_SPEED, /* of the governor userspace */
	INITIAL_UNCORE, /* of a package and die */
	INITIAL_CLUSTER, /* the same with a newer driver */
	INITIAL_KINDS,
};

struct initial_value {
	enum initial_kind kind;
	unsigned a, b; /* core; package and die; cluster */
	char value[INITIAL_VALUE_SIZE];
};

struct initial_settings {
	/* The process that changes the settings; the PID alone is ambiguous, as the kernel reuses
	 * it. */
	pid_t pid;
	uint64_t began; /* start time, clock ticks since boot */
	unsigned count;
	struct initial_value values[INITIAL_VALUES_MAX]; /* in the order of restoration */
};

/* Initializes an empty set of this process. */
void initial_begin(struct initial_settings *initial);

/* Reads the settings of a core, or of the whole uncore; call once for each. Returns 0, or -ENOSPC. */
int initial_read_core(struct initial_settings *initial, const struct cpu_files *f, unsigned core);
int initial_read_uncore(struct initial_settings *initial, const struct cpu_files *f);

bool initial_has_core(const struct initial_settings *initial, unsigned core);

/* The name of its file below the root. */
void initial_file_name(const struct initial_value *value, char name[CPU_FILES_NAME]);

/* Writes the file atomically. Returns 0 or a negative errno. */
int initial_save(const struct initial_settings *initial, const char *path);

/* Returns 0, or -1 with a message in `fault`. The file must belong to the user or root, and must not be
 * writable by others. */
int initial_load(struct initial_settings *initial, const char *path, char fault[INITIAL_LINE]);

/* Parses `size` bytes at `text`, which ends in '\0'; otherwise like initial_load(). */
int initial_parse(struct initial_settings *initial, char *text, size_t size,
		  char fault[INITIAL_LINE]);

/* Whether the process that saved the settings still runs. */
bool initial_owner_runs(const struct initial_settings *initial);

/* Writes the saved values and reads them back. Returns the number of values that differ, and logs
 * each. */
unsigned initial_restore(const struct initial_settings *initial, const struct cpu_files *f);
