/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a service group takes before its first packet: memory, and time from its configuration to ready.
 *
 * Memory is what was asked for and not given back, in DPDK's heap and in the C library's: the same on
 * ordinary and on huge pages, on an idle machine and on a busy one. Neither EAL's own nor the traffic's.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct footprint {
	/* bytes */
	uint64_t configuration; /* as loaded */
	uint64_t pools; /* buffers for packets and parts of them */
	uint64_t tables; /* keys, tables, rules, queues: what grows with the modems */
	/* seconds */
	double load; /* the file is read and checked */
	double make_pools;
	double make_sessions;
	double make_tables;
};

/* Bytes that are in use; DPDK's are counted from when EAL has started. */
uint64_t footprint_memory(void);

/* Seconds of a clock that only goes on. */
double footprint_clock(void);

/* "memory" and "start" of docs/results.md. To be asked for when the service group is ready. */
json_t *footprint_memory_json(const struct footprint *f, size_t modems);
json_t *footprint_start_json(const struct footprint *f);
