/* SPDX-License-Identifier: BSD-3-Clause */
#include "commands/run_folder.h"

/* systemd gives /run/vcmts to the user of the service and removes it when the service stops, so
 * root's own folder has another name. */
#define OF_ROOT "/run/vcmts-0"

const char *run_folder(char *folder, size_t size, char fault[OWNED_FOLDER_LINE]) {
	return owned_folder_runtime(OF_ROOT, "vcmts", folder, size, fault);
}
