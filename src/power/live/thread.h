/* SPDX-License-Identifier: BSD-3-Clause */
/* The governor's thread. */
#pragma once

struct power;

/* On the core of the caller; nothing where it runs. Without a thread frequencies stay at the maximum, which is said. */
void power_thread_start(struct power *p);

/* Waits for its end; harmless where it does not run. */
void power_thread_stop(struct power *p);
