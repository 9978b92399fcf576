/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Footprint of a service group before its first packet: memory, and time from configuration to ready.
 *
 * Memory is what is allocated and not freed in DPDK's heap and in the C library's. It does not depend on
 * page size or load of the machine. It excludes memory of the EAL and the traffic.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include <jansson.h>

struct footprint {
	/* bytes */
	uint64_t configuration; /* of the loaded file */
	uint64_t pools; /* packet and indirect mbufs */
	uint64_t tables; /* keys, tables, rules, queues: grows with the number of modems */
	/* seconds */
	double load; /* to read and check the file */
	double make_pools;
	double make_sessions; /* crypto keys of all modems */
	double make_tables;
};

/* Allocated bytes; DPDK's count from the start of the EAL. */
uint64_t footprint_memory(void);

/* CLOCK_MONOTONIC in seconds: equal in all processes of a host. */
double monotonic_seconds(void);

/* "memory" and "start" of docs/results.md. Must be called when the service group is ready. */
json_t *footprint_memory_json(const struct footprint *f, size_t modems);
json_t *footprint_start_json(const struct footprint *f);
