/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL's runtime folder of a process, with its telemetry socket: BASE/dpdk/PROGRAM-PID. */
#pragma once

#include <stdbool.h>

/* Prepares the folder `dpdk` for EAL (owned_folder_runtime()), and removes folders of `program` that
 * ended processes left. Returns whether EAL can create a telemetry socket there; if not, after a
 * message if `warn` is set. May set XDG_RUNTIME_DIR. */
bool runtime_folder_prepare(const char *program, bool warn);

/* Removes the runtime folder of a process with its remaining sockets. */
void runtime_folder_remove(const char *folder);
