/* SPDX-License-Identifier: BSD-3-Clause */
/* Setup and teardown of groups of tests that make packets: DPDK, and buffers for them. */
#pragma once

#include <rte_mbuf.h>

#include "platform/platform.h"

static struct rte_mempool *pool;

static int pool_start(void **state) {
	struct platform_options options = {.program = "test", .memory_mb = 256};

	if (platform_start(&options) != 0)
		return -1;
	pool = rte_pktmbuf_pool_create("test", 1023, 0, 0, RTE_MBUF_DEFAULT_BUF_SIZE,
				       SOCKET_ID_ANY);
	return pool == NULL ? -1 : 0;
}

static int pool_stop(void **state) {
	platform_stop();
	return 0;
}
