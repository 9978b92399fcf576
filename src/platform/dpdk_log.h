/* SPDX-License-Identifier: BSD-3-Clause */
/* Log messages of DPDK and its drivers. */
#pragma once

/* Redirect DPDK's messages to the log, if it is open, and undo that. Call them before EAL starts and after it
 * has ended; the second does nothing without the first. */
void dpdk_log_redirect(void);
void dpdk_log_restore(void);
