/* SPDX-License-Identifier: BSD-3-Clause */
/* Properties of the machine, to compare measurements of different machines. */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct host {
	char cpu[64]; /* model name; "unknown" if not available */
	uint64_t tsc_hz; /* reference cycles per second */
	uint64_t core_hz; /* measured on the calling thread by a chain of additions */
	uint64_t tsc_read_cycles; /* reference cycles per read of the TSC */
};

/* Takes about 20 ms. Call it on the measured core after EAL has started. */
void host_measure(struct host *h);
