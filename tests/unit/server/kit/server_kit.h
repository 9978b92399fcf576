/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions that the test kits of servers share. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "server/server.h"

/* Checks that no packet is pending in the server and all buffers are free. */
void server_check_empty(const struct server *s);

/* Memory in use in all heaps of DPDK. */
struct heaps_used {
	uint64_t bytes, allocations;
};
struct heaps_used heaps_used(void);

/* Adds bytes to a digest. Its initial value is arbitrary. */
void digest_add(uint64_t *sum, const void *bytes, size_t size);
