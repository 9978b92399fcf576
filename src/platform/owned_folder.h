/* SPDX-License-Identifier: BSD-3-Clause */
/* A folder with a name that others can guess: it must be ours, or what we put there could be another one's a moment later. */
#pragma once

#include <stddef.h>

#define OWNED_FOLDER_LINE 256

/*
 * Makes the folder for its owner alone where it is not there. Returns NULL where it is a folder, no link to one, of this
 * user, and nobody else may write to it; else why it is not, with what helps, in `fault`.
 */
const char *owned_folder_make(const char *path, char fault[OWNED_FOLDER_LINE]);
