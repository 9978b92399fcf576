/* SPDX-License-Identifier: BSD-3-Clause */
/* The governor's thread. */
#pragma once

struct power;

/* Starts the thread on the caller's cores, unless it runs. Without a thread, frequencies stay at the maximum;
 * an error is logged. */
void power_thread_start(struct power *p);

/* Waits for the thread to end; does nothing if it does not run. */
void power_thread_stop(struct power *p);
