/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/owned_folder.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *owned_folder_make(const char *path, char fault[OWNED_FOLDER_LINE]) {
	struct stat status;

	if ((mkdir(path, 0700) != 0 && errno != EEXIST) || lstat(path, &status) != 0)
		snprintf(fault, OWNED_FOLDER_LINE, "%s", strerror(errno));
	else if (S_ISLNK(status.st_mode))
		snprintf(fault, OWNED_FOLDER_LINE,
			 "found a symbolic link of user %u, allowed: a folder; remove it",
			 (unsigned)status.st_uid);
	else if (!S_ISDIR(status.st_mode))
		snprintf(fault, OWNED_FOLDER_LINE,
			 "found a file, allowed: a folder; remove "
			 "the file");
	else if (status.st_uid != geteuid())
		snprintf(fault, OWNED_FOLDER_LINE,
			 "found a folder of user %u, allowed: of user %u; remove it, or set "
			 "XDG_RUNTIME_DIR to another folder",
			 (unsigned)status.st_uid, (unsigned)geteuid());
	else if ((status.st_mode & 022) != 0)
		snprintf(fault, OWNED_FOLDER_LINE,
			 "found a folder that others may write to (mode %04o); chmod go-w",
			 (unsigned)status.st_mode & 07777);
	else
		return NULL;
	return fault;
}
