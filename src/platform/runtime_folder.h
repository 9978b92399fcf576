/* SPDX-License-Identifier: BSD-3-Clause */
/* EAL's folder of a process, in which its telemetry socket is: BASE/dpdk/PROGRAM-PID. */
#pragma once

#include <stdbool.h>

/*
 * Prepares the folder in which EAL will make that of `program`, and removes those of processes that ended without removing theirs.
 * Returns whether EAL can have a telemetry socket there; else after a message.
 */
bool runtime_folder_prepare(const char *program);

/* Removes EAL's folder of a process, with the sockets that it leaves. */
void runtime_folder_remove(const char *folder);
