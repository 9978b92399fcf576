/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/owned_folder.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
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
			 "RUNTIME_DIRECTORY to another folder",
			 (unsigned)status.st_uid, (unsigned)geteuid());
	else if ((status.st_mode & 022) != 0)
		snprintf(fault, OWNED_FOLDER_LINE,
			 "found a folder that others may write to (mode %04o); chmod go-w",
			 (unsigned)status.st_mode & 07777);
	else
		return NULL;
	return fault;
}

static bool is_usable(const char *folder) {
	struct stat status;

	return folder != NULL && stat(folder, &status) == 0 && status.st_uid == geteuid() &&
	       access(folder, W_OK | X_OK) == 0;
}

/* The folder of an ordinary user. `su` and `sudo -E` keep the former user's XDG_RUNTIME_DIR. */
static const char *user_base(char base[PATH_MAX], char fault[OWNED_FOLDER_LINE]) {
	const char *own = getenv("XDG_RUNTIME_DIR");

	if (is_usable(own)) {
		snprintf(base, PATH_MAX, "%s", own);
		return NULL;
	}
	snprintf(base, PATH_MAX, "/tmp/vcmts-%u", (unsigned)getuid());
	return owned_folder_make(base, fault);
}

const char *owned_folder_runtime(const char *root, const char *name, char *path, size_t size,
				 char fault[OWNED_FOLDER_LINE]) {
	const char *service = getenv("RUNTIME_DIRECTORY"), *wrong = NULL;
	char base[PATH_MAX];
	int length;

	if (service == NULL && getuid() == 0) {
		length = snprintf(path, size, "%s", root);
	} else {
		if (service == NULL)
			wrong = user_base(base, fault);
		length = snprintf(path, size, "%s/%s", service != NULL ? service : base, name);
	}
	if ((size_t)length >= size)
		return "this name is too long";
	return wrong != NULL ? wrong : owned_folder_make(path, fault);
}
