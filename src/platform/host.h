/* SPDX-License-Identifier: BSD-3-Clause */
/* What the machine is, for those who compare figures of two of them. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct host {
	char cpu[64]; /* model name, "unknown" where the system does not say */
	uint64_t tsc_hz; /* reference cycles a second */
	uint64_t core_hz; /* measured on the calling thread, by a chain of additions */
	uint64_t tsc_read_cycles; /* reference cycles of one reading of the TSC */
};

/* Takes about 20 ms. To be called on the core in question, after EAL has started. */
void host_measure(struct host *h);
