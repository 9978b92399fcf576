/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/run_folder.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static int folder_name(char *folder, size_t size) {
	const char *base = getenv("RUNTIME_DIRECTORY");

	if (base == NULL)
		base = getuid() == 0 ? "/run" : getenv("XDG_RUNTIME_DIR");
	if (base != NULL)
		return snprintf(folder, size, "%s/vcmts", base);
	/* All users share /tmp: the name has the UID, and owned_folder_make() checks the owner. */
	return snprintf(folder, size, "/tmp/vcmts-%u", (unsigned)getuid());
}

const char *run_folder(char *folder, size_t size, char fault[OWNED_FOLDER_LINE]) {
	if ((size_t)folder_name(folder, size) >= size)
		return "this name is too long";
	return owned_folder_make(folder, fault);
}
