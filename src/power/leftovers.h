/* SPDX-License-Identifier: BSD-3-Clause */
/* State files (power/initial_settings.h), one per process. Restores the settings of processes that ended
 * without restoring them. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "power/cpu_files.h"

#define LEFTOVERS_PATH 4096 /* bytes */

/* "FOLDER/PID-power.state". Returns 0, or -ENAMETOOLONG. */
int leftovers_path(const char *folder, pid_t pid, char path[LEFTOVERS_PATH]);

struct leftovers {
	unsigned restored; /* files that were restored and removed */
	unsigned failed; /* invalid files, and files with values that could not be restored */
	unsigned running; /* files of running processes */
};

/* Restores the files of the folder, except those of running processes. Logs each restoration. */
struct leftovers leftovers_restore(const char *folder, const struct cpu_files *f);

/* Restores one file. Returns 0 and removes it, -EBUSY if its process runs, -ENOENT if it is missing, or
 * -EINVAL after a message. */
int leftovers_restore_file(const char *path, const struct cpu_files *f);
