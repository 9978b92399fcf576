/* SPDX-License-Identifier: BSD-3-Clause */
/* One service group in service: its configuration, buffers, crypto sessions, downstream, workers. */
#pragma once

#include <stdint.h>

#include <rte_mempool.h>

#include "downstream/downstream.h"
#include "model/service_group.h"
#include "platform/crypto.h"
#include "worker.h"

#define INSTANCE_MAX_WORKERS 2

struct instance {
	const struct service_group *sg;
	struct rte_mempool *packets; /* what the network port receives into */
	struct rte_mempool *depi_headers;
	struct rte_mempool *depi_fragments;
	struct rte_mempool *linear; /* NULL where the R-PHY port takes chains of buffers */
	struct docsis_crypto crypto;
	void **sessions; /* one a modem */
	struct worker workers[INSTANCE_MAX_WORKERS];
	unsigned worker_count;
	uint16_t ports[2]; /* network, R-PHY */
	bool has_ports; /* they are closed by instance_free() */
	struct downstream *downstream;
};

/* Memory in MB that an instance of this configuration takes from DPDK's heap, with room to spare. */
unsigned instance_memory_mb(const struct service_group *sg);

/* A zeroed instance, aligned as it must be; to be freed by free(). NULL when memory is short. */
struct instance *instance_alloc(void);

/* Buffer pools: what ports need before the rest can be made. Returns 0 or -1 after a message. */
int instance_pools(struct instance *i, const struct service_group *sg);

/*
 * Crypto sessions, downstream and workers on the given ports. The layout of the configuration
 * decides how many workers there are. Returns 0 or -1 after a message.
 */
int instance_create(struct instance *i, uint16_t network_port, uint16_t rphy_port);

/* Closes the ports and frees everything but the configuration. Harmless on a zeroed or half-made
 * instance. */
void instance_free(struct instance *i);
