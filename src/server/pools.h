/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffer pools of a server, for all groups together. One group cannot use the buffers of
 * another: the limits of all queues and pending buffers, plus the ports' rings, fit into the pools.
 * For each group that may be added later, the pools include the needs of the largest group.
 */
#pragma once

#include <rte_mempool.h>

#include "model/server_config.h"
#include "server/ports.h"

/* Buffers of each pool that groups and ports may keep. */
struct pool_needs {
	unsigned packets;
	unsigned depi_frames; /* headers, and as many fragments and linear copies */
	unsigned uepi; /* like the next two, 0 without an upstream */
	unsigned frames;
	unsigned pieces;
};

/* Buffer sizes in bytes. */
struct buffer_sizes {
	unsigned depi, linear, uepi;
};

struct server_pools {
	struct rte_mempool *packets; /* network ports receive into it */
	struct rte_mempool *depi_headers;
	struct rte_mempool *depi_fragments;
	struct rte_mempool *linear; /* NULL if all R-PHY ports transmit chained mbufs */
	/* NULL if no group has an upstream: */
	struct rte_mempool *uepi; /* R-PHY ports receive into it: whole packets */
	/* of the upstream; equal to `uepi` if its buffers are no larger */
	struct rte_mempool *frames;
	struct rte_mempool *pieces;
	struct pool_needs max,
		reserved; /* limit for groups and ports, and what they have reserved */
	struct buffer_sizes buffer_size;
};

/* Memory in MB that a server of this configuration needs from DPDK's heap, with a reserve. `ports`
 * may be NULL: then each group has ports of its own. */
unsigned server_memory_mb(const struct server_config *config, const struct server_ports *ports);

/* Contiguous memory in MB that holds the largest table, whatever the heap already holds. */
unsigned server_memory_piece_mb(const struct server_config *config);

/* Limits of packets in the queues of a group, and between its upper and lower MAC. */
uint32_t server_queued_max(const struct server_config *config, const struct service_group *sg);
uint32_t server_hand_over_max(const struct server_config *config);

/* Limit in bytes of each kind of pending buffers in the upstream of a group. */
uint32_t server_pending_max(const struct server_config *config, const struct service_group *sg);

/* Limit of buffers in flight in each upstream. */
uint32_t server_in_flight_max(const struct server_config *config);

/* Creates all pools but `linear` in the zeroed `p`. Returns 0, or -1 and logs the reason. The
 * caller calls server_pools_free() in either case. */
int server_pools_create(struct server_pools *p, const struct server_config *config,
			const struct server_ports *ports);

/* Creates the pool of linear copies of DEPI frames, for R-PHY ports that do not transmit chained
 * mbufs. No effect if it exists. Returns 0, or -1 and logs the reason. */
int server_pools_linear(struct server_pools *p);

/* Whether the group's DEPI frames must be copied into one buffer each. */
bool server_port_needs_linear(const struct service_group *sg, const struct server_port *rphy);

/* The needs of a group, and of a port of that role with so many descriptors. */
struct pool_needs server_group_needs(const struct server_config *config,
				     const struct service_group *sg);
struct pool_needs server_port_needs(enum device_role role, unsigned descriptors);
void pool_needs_add(struct pool_needs *into, const struct pool_needs *more);

/* Reserves buffers for a group that is added. Returns NULL, or a text for people that says what is
 * short; then nothing is reserved. */
const char *server_pools_reserve(struct server_pools *p, const struct service_group *sg,
				 const struct pool_needs *needs);
void server_pools_release(struct server_pools *p, const struct pool_needs *needs);

/* Accepts a zeroed struct. */
void server_pools_free(struct server_pools *p);
