/* SPDX-License-Identifier: BSD-3-Clause */
/* The folder of a running vcmtsd, with its control socket and the initial frequency settings. */
#pragma once

#include <stddef.h>

#include "platform/owned_folder.h"

/* RUNTIME_DIRECTORY/vcmts, /run/vcmts-0 for root, XDG_RUNTIME_DIR/vcmts or /tmp/vcmts-UID/vcmts;
 * creates it if missing (owned_folder_runtime()). Returns NULL, or the reason of a refusal, which may
 * be in `fault`. */
const char *run_folder(char *folder, size_t size, char fault[OWNED_FOLDER_LINE]);
