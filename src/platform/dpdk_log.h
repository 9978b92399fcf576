/* SPDX-License-Identifier: BSD-3-Clause */
/* What DPDK and its drivers say. */
#pragma once

/* Where the log is open, it becomes lines of it, and as it was again. To be called before EAL starts and when it has
 * ended; the second is harmless without the first. */
void dpdk_log_take(void);
void dpdk_log_give_back(void);
