/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that a driver takes away by itself. net_memif unmaps what it shares with the other end as soon as that ends, in
 * the thread of EAL's interrupts, whether or not a worker stands in a burst of it: a worker that the system had put
 * aside there would end the process. So munmap() of all of the program goes through here, and waits first.
 */
#pragma once

/*
 * From now on munmap() by a thread that is no lcore calls wait(context) first, which returns when no worker reaches the
 * memory any more. NULL: by none; returns when none waits any more.
 */
void unmap_waits(void (*wait)(const void *context), const void *context);
