/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL's runtime folder of a process, with its telemetry socket: BASE/dpdk/PROGRAM-PID. */
#pragma once

#include <stdbool.h>

/* Prepares the base folder for EAL, and removes folders of `program` that ended processes left.
 * Returns whether EAL can create a telemetry socket there; if not, after a message. */
bool runtime_folder_prepare(const char *program);

/* Removes the runtime folder of a process with its remaining sockets. */
void runtime_folder_remove(const char *folder);
