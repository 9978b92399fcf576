/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * TSC cycles that the traffic's core spends, by what it does. A part that took longer than a millisecond
 * was interrupted: it says nothing of the work and does not count.
 */
#pragma once

#include <stdint.h>

#include <rte_cycles.h>

#define SPENT_MAX_US 1000

/* Adds the cycles from `start` on. Returns the TSC, for the part that follows. */
static inline uint64_t spent(uint64_t *cycles, uint64_t start) {
	uint64_t now = rte_rdtsc();

	if ((now - start) * (1000000 / SPENT_MAX_US) < rte_get_tsc_hz())
		*cycles += now - start;
	return now;
}
