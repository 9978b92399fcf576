/* SPDX-License-Identifier: BSD-3-Clause */
/* A process that has keys in its memory. */
#pragma once

/* Where it is set to "yes" the process leaves cores, and its user's debugger may look into it. */
#define SECRET_CORE_DUMPS "VCMTS_CORE_DUMPS"

/*
 * No core dump is made of the process, whatever the system is set to, and no process of its user but root's may read its
 * memory; a core that is made all the same, as a debugger of root's makes one, has none of its memory. What jansson
 * frees is wiped. To be called first of all.
 */
void secret_process_protect(void);
