/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Protects workers from memory that a driver unmaps. net_memif unmaps the shared memory as soon as its peer
 * ends, in EAL's interrupt thread, even while a preempted worker uses it in a burst; that would crash the
 * process. So this munmap() replaces the C library's and waits first.
 */
#pragma once

/*
 * From now on, munmap() in a thread that is no lcore first calls wait(context), which returns when no worker
 * can reach the memory. NULL: no wait; then returns after waits in progress have ended.
 */
void unmap_set_wait(void (*wait)(const void *context), const void *context);
