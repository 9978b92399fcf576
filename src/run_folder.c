/* SPDX-License-Identifier: BSD-3-Clause */
#include "run_folder.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int folder_name(char *folder, size_t size) {
	const char *base = getenv("RUNTIME_DIRECTORY");

	if (base == NULL)
		base = getuid() == 0 ? "/run" : getenv("XDG_RUNTIME_DIR");
	if (base != NULL)
		return snprintf(folder, size, "%s/vcmts", base);
	return snprintf(folder, size, "/tmp/vcmts-%u", (unsigned)getuid()); /* others', too */
}

const char *run_folder(char *folder, size_t size) {
	struct stat status;

	if ((size_t)folder_name(folder, size) >= size)
		return "this name is too long";
	if (mkdir(folder, 0700) != 0 && errno != EEXIST)
		return strerror(errno);
	if (lstat(folder, &status) != 0)
		return strerror(errno);
	if (!S_ISDIR(status.st_mode) || status.st_uid != getuid() || (status.st_mode & 022) != 0)
		return "found a folder that others may write, or no folder";
	return NULL;
}
