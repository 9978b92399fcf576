/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What was found of the machine's frequencies before anything was changed, kept in a file, so that it is restored after
 * a crash, too: by `vcmtsd power restore`, which the systemd unit calls, and at the next start. The file holds words of a
 * table and small numbers, no paths: whatever is in it, nothing but files of that table is written.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "power/cpu_files.h"

#define FOUND_MOST 1024 /* values */
#define FOUND_VALUE 32 /* bytes of one, with its end */
#define FOUND_CORES 1024 /* numbers of cores are below */
#define FOUND_FILE_MOST 65536 /* bytes */
#define FOUND_LINE 256 /* bytes of what is said of a fault */

enum found_kind {
	FOUND_GOVERNOR,
	FOUND_MAX,
	FOUND_MIN,
	FOUND_PREFERENCE, /* energy_performance_preference */
	FOUND_SPEED, /* of the governor userspace */
	FOUND_UNCORE, /* of a package and die */
	FOUND_CLUSTER, /* likewise, of newer drivers */
	FOUND_KINDS,
};

struct found_value {
	enum found_kind kind;
	unsigned a, b; /* core; package and die; cluster */
	char value[FOUND_VALUE];
};

struct found {
	/* The process that changes what is in it: a number alone may be another one's by now. */
	pid_t pid;
	uint64_t began; /* clock ticks since the machine's start */
	unsigned count;
	struct found_value values[FOUND_MOST]; /* in the order in which they are restored */
};

/* Empty, of this process. */
void found_begin(struct found *found);

/* What there is of a core, or all of the uncore, once. Returns 0, or -ENOSPC. */
int found_core(struct found *found, const struct cpu_files *f, unsigned core);
int found_uncore(struct found *found, const struct cpu_files *f);

bool found_has_core(const struct found *found, unsigned core);

/* The name of its file below the root. */
void found_name(const struct found_value *value, char name[CPU_FILES_NAME]);

/* Writes the file as a whole, or leaves the one that was there. Returns 0 or a negative errno. */
int found_save(const struct found *found, const char *path);

/* Returns 0, or -1 with `fault` filled. The file must be the user's own, or root's, and nobody else may write it. */
int found_load(struct found *found, const char *path, char fault[FOUND_LINE]);

/* The same of `size` bytes at `text`, which ends in '\0'. */
int found_parse(struct found *found, char *text, size_t size, char fault[FOUND_LINE]);

/* Whether the process that it is of still runs. */
bool found_lives(const struct found *found);

/* Writes what was found and reads it back. Returns how many values are not what they were; each is logged. */
unsigned found_restore(const struct found *found, const struct cpu_files *f);
