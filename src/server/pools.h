/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The buffers of a server, for all groups together. What a group may keep of them is its own: the limits
 * of the queues and holds of all groups, and what stands in the rings of the ports, add up to no more
 * than a pool has. For groups that come while the server runs there is as much as the largest group needs.
 */
#pragma once

#include <rte_mempool.h>

#include "model/server_config.h"
#include "server/ports.h"

/* Buffers of each pool that somebody may keep. */
struct pool_needs {
	unsigned packets;
	unsigned depi_frames; /* headers, and as many cut frames and copies */
	unsigned uepi; /* as the next two: 0 where there is no upstream */
	unsigned frames;
	unsigned pieces;
};

/* Bytes of a buffer. */
struct pool_rooms {
	unsigned depi, linear, uepi;
};

struct server_pools {
	struct rte_mempool *packets; /* what network ports receive into */
	struct rte_mempool *depi_headers;
	struct rte_mempool *depi_fragments;
	struct rte_mempool *linear; /* NULL where all R-PHY ports take chains of buffers */
	/* NULL where no group has an upstream: */
	struct rte_mempool *uepi; /* what R-PHY ports receive into: whole packets */
	/* of the upstream; `uepi` where its buffers are no larger */
	struct rte_mempool *frames;
	struct rte_mempool *pieces;
	struct pool_needs most, taken; /* what groups and ports may keep, and do */
	struct pool_rooms rooms;
};

/* Memory in MB that a server of this configuration takes from DPDK's heap, with room to spare. `ports`
 * may be NULL: then each group has ports of its own. */
unsigned server_memory_mb(const struct server_config *config, const struct server_ports *ports);

/* Memory in MB in which the largest of its tables finds its place, whatever is there already. */
unsigned server_memory_piece_mb(const struct server_config *config);

/* Packets that may be in the queues of a group at a time, and between its upper and lower MAC. */
uint32_t server_queued_max(const struct server_config *config, const struct service_group *sg);
uint32_t server_hand_over_max(const struct server_config *config);

/* Bytes of each kind of buffers that may wait for missing parts in the upstream of a group. */
uint32_t server_held_max(const struct server_config *config, const struct service_group *sg);

/* Buffers that are on their way in each upstream. */
uint32_t server_moving_max(const struct server_config *config);

/* All but `linear`, in the zeroed `p`. Returns 0, or -1 after a message. To be freed by
 * server_pools_free() in either case. */
int server_pools_create(struct server_pools *p, const struct server_config *config,
			const struct server_ports *ports);

/* Where an R-PHY port takes no chains, DEPI frames are copied into one buffer each: the pool of these, where there
 * is none. Returns 0, or -1 after a message. */
int server_pools_linear(struct server_pools *p);

/* Whether the group's DEPI frames are to be copied. */
bool server_port_wants_linear(const struct service_group *sg, const struct server_port *rphy);

/* What a group may keep, and what stands in a port of that role with so many descriptors. */
struct pool_needs server_group_needs(const struct server_config *config,
				     const struct service_group *sg);
struct pool_needs server_port_needs(enum device_role role, unsigned descriptors);
void pool_needs_add(struct pool_needs *into, const struct pool_needs *more);

/* Takes it for a group that comes. Returns NULL, or for people what there is not enough of: then nothing was
 * taken. */
const char *server_pools_take(struct server_pools *p, const struct service_group *sg,
			      const struct pool_needs *needs);
void server_pools_give_back(struct server_pools *p, const struct pool_needs *needs);

/* Harmless on a zeroed one. */
void server_pools_free(struct server_pools *p);
