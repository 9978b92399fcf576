/* SPDX-License-Identifier: BSD-3-Clause */
/* Files of what was found (power/found.h), one a process, and those of processes that ended without restoring it. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

#include "power/cpu_files.h"

#define LEFTOVERS_PATH 4096 /* bytes */

/* "FOLDER/PID-power.state". Returns 0, or -ENAMETOOLONG. */
int leftovers_path(const char *folder, pid_t pid, char path[LEFTOVERS_PATH]);

struct leftovers {
	unsigned restored; /* files; they are gone */
	unsigned
		failed; /* files of which something could not be restored, or that are not what they should be */
	unsigned living; /* files of processes that run */
};

/* Restores what the files of the folder have, but for those of processes that run. Logs what it does. */
struct leftovers leftovers_restore(const char *folder, const struct cpu_files *f);

/* The same of one file. Returns 0 and removes it, -EBUSY where its process runs, -ENOENT without one, or -EINVAL
 * after a line. */
int leftovers_restore_file(const char *path, const struct cpu_files *f);
