/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/pool.h"

#include <stdio.h>

#include <rte_errno.h>
#include <rte_mbuf.h>

#define CACHE 256

struct rte_mempool *packet_pool(const char *name, unsigned count, unsigned private_size,
				unsigned room) {
	static const char *const drivers[] = {"lf_stack", "stack", NULL};
	struct rte_mempool *pool = NULL;

	for (size_t d = 0; d < RTE_DIM(drivers) && pool == NULL; d++)
		pool = rte_pktmbuf_pool_create_by_ops(name, count, CACHE, (uint16_t)private_size,
						      (uint16_t)room, SOCKET_ID_ANY, drivers[d]);
	if (pool == NULL)
		fprintf(stderr, "%s: no memory for %u buffers of %u bytes: %s\n", name, count, room,
			rte_strerror(rte_errno));
	return pool;
}
