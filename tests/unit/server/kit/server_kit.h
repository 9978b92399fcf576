/* SPDX-License-Identifier: BSD-3-Clause */
/* What kits of servers share. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "server/server.h"

/* Fails where the server holds a packet, or a buffer has not come back. */
void server_has_nothing(const struct server *s);

/* Of all heaps of DPDK. */
struct heaps_used {
	uint64_t bytes, allocations;
};
struct heaps_used heaps_used(void);

/* Adds bytes to a digest, which begins with any number. */
void bytes_digest(uint64_t *sum, const void *bytes, size_t size);
