/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder with a guessable name must belong to the user; otherwise another user could replace the files in it. */
#pragma once

#include <stddef.h>

#define OWNED_FOLDER_LINE 256

/*
 * Creates the folder with mode 0700 if it is missing. Returns NULL if it is a folder of this user, not a
 * link, and not writable by others. Otherwise returns `fault` with the reason and a remedy.
 */
const char *owned_folder_make(const char *path, char fault[OWNED_FOLDER_LINE]);

/*
 * Creates a folder for runtime files of this user, as owned_folder_make() does, and stores its path. It is
 * `name` in $RUNTIME_DIRECTORY (of a service), or else `root` (a path) for root. For other users it is
 * `name` in $XDG_RUNTIME_DIR if that folder is theirs, else in /tmp/vcmts-UID.
 */
const char *owned_folder_runtime(const char *root, const char *name, char *path, size_t size,
				 char fault[OWNED_FOLDER_LINE]);
