/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Whether the server waits for a grace period: a change is freed when each worker has ended a round after the last task of
 * what leaves. Where the workers are no threads nothing else would show it, as no reader is ever in the midst of a round.
 */
#pragma once

#include <stdbool.h>

/* Counts rounds from now on; or no longer. */
void grace_watch(bool on);

/* The worker of this number has ended a round, with what stands between two rounds. */
void grace_round_ended(unsigned worker);

/* Changes that were freed, each after such a period. */
unsigned grace_periods(void);
