/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder of what vcmtsd has while it runs: the control socket, and what it found of the machine's frequencies. */
#pragma once

#include <stddef.h>

#include "platform/owned_folder.h"

/* systemd's for the service, that of root, or that of the user; it is made where it is not there. Returns NULL, or why
 * it will not do, in `fault` (platform/owned_folder.h). */
const char *run_folder(char *folder, size_t size, char fault[OWNED_FOLDER_LINE]);
