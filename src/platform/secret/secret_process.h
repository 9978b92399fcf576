/* SPDX-License-Identifier: BSD-3-Clause */
/* Protects a process that has keys in its memory. */
#pragma once

/* If set to "yes", the process dumps cores, and debuggers of its user can attach. */
#define SECRET_CORE_DUMPS "VCMTS_CORE_DUMPS"

/*
 * Disables core dumps, whatever the system's settings, and denies other processes except root's access to the
 * memory. A core that is made anyway, for example by root's debugger, contains no memory. Makes jansson wipe
 * what it frees. Call it first in main().
 */
void secret_process_protect(void);
