/* SPDX-License-Identifier: BSD-3-Clause */
/* TSC cycles that the traffic's core spends, by kind of work. Periods longer than a millisecond are
 * not counted, as an interruption of the thread dominates them. */
#pragma once

#include <stdint.h>

#include <rte_cycles.h>

#define SPENT_MAX_US 1000

/* Adds the cycles since `start`. Returns the TSC, as start of the next period. */
static inline uint64_t spent(uint64_t *cycles, uint64_t start) {
	uint64_t now = rte_rdtsc();

	if ((now - start) * (1000000 / SPENT_MAX_US) < rte_get_tsc_hz())
		*cycles += now - start;
	return now;
}
