/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder of a running vcmtsd, with its control socket and the initial frequency settings. */
#pragma once

#include <stddef.h>

#include "platform/owned_folder.h"

/* systemd's folder of the service, root's, or the user's; creates it if missing. Returns NULL, or the reason
 * for a refusal in `fault` (platform/owned_folder.h). */
const char *run_folder(char *folder, size_t size, char fault[OWNED_FOLDER_LINE]);
