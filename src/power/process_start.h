/* SPDX-License-Identifier: BSD-3-Clause */
/* The start time of a process, which identifies it together with its PID. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* The start time in clock ticks since boot; 0 if the process does not exist or is a zombie. */
uint64_t process_start(pid_t pid);
