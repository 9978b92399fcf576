/* SPDX-License-Identifier: BSD-3-Clause */
/* When a process began: with its number that tells it apart from others, before and after it. */
#pragma once

#include <stdint.h>
#include <sys/types.h>

/* In clock ticks since the machine's start; 0 where there is no such process, or it has ended and is waited for. */
uint64_t process_start(pid_t pid);
