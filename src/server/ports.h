/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of a server: each device once, and which group uses which. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_ethdev.h>
#include <rte_mempool.h>

#include "model/devices.h"
#include "model/server_config.h"
#include "pipeline/counters.h"
#include "platform/platform.h"

#define SERVER_PORTS_MAX (SERVER_MAX_GROUPS * DEVICE_ROLES)
#define SERVER_NO_PORT SERVER_PORTS_MAX /* in the place of an index */

/* Of a port that is open, or was. */
enum server_port_state {
	SERVER_PORT_DOWN, /* no link, or nobody has looked yet */
	SERVER_PORT_UP,
	SERVER_PORT_GONE, /* its device was taken away */
	SERVER_PORT_STATES,
};

struct server_port {
	const char *device; /* the configuration's; NULL where the port is given by who made it */
	enum device_role role; /* of the group that names it first */
	unsigned first; /* index of that group */
	unsigned users; /* groups */
	bool shared; /* by several groups, or a VLAN leads to it: src/sharing */
	bool tagged; /* frames of one of its groups have a VLAN tag */
	uint32_t queue_size; /* as the next: the largest that one of them asks for */
	uint32_t mtu;
	bool open;
	uint16_t id; /* of an open one */
	/* The next two by server_ports_follow(), in src/server/links. */
	enum server_port_state state;
	bool had_link; /* since it was opened */
	bool waits; /* what is sent waits for the link */
	char name
		[RTE_ETH_NAME_MAX_LEN]; /* as DPDK calls it, also when it is gone; empty: it was never open */
	struct rte_eth_stats last; /* what its driver had counted when it went */
	bool no_steering; /* one of its groups wants none */
	uint16_t queues_most; /* receive queues behind the first, for one group each: asked for */
	uint16_t queues; /* and there; 0: software tells its packets apart */
	unsigned counted; /* descriptors, and packets of rings, for which buffers were taken */
};

struct server_ports {
	struct server_port list[SERVER_PORTS_MAX];
	unsigned count;
	uint16_t of[SERVER_MAX_GROUPS][DEVICE_ROLES]; /* index into the list */
};

/* Packets of the ring that a group has on a shared port. */
unsigned server_share_ring(size_t groups);

/*
 * Lists the devices of all groups in the zeroed `p`. Returns 0, or -1 after a message where one device is
 * found for ports of two kinds, or more than DPDK has room for. `config` must live on. To be freed by
 * server_ports_free() in either case.
 */
int server_ports_find(struct server_ports *p, const struct server_config *config);

/* Each group has ports of its own, which are given by server_ports_give(). */
void server_ports_own(struct server_ports *p, const struct server_config *config);

/* An open port for the group. From now on it is closed by server_ports_free(). One port that is given to
 * several groups is shared. */
void server_ports_give(struct server_ports *p, unsigned group, enum device_role role, uint16_t id);

/* The names for platform_start(). Returns how many they are. */
unsigned server_ports_devices(const struct server_ports *p,
			      const char *devices[PLATFORM_MAX_DEVICES]);

/* "up", "down", "gone". */
const char *server_port_state_name(enum server_port_state state);

/* The reason for which a frame ends that is sent there now; DROP_NONE: it goes out, or waits. */
enum drop_reason server_port_shut(const struct server_port *port);

/* The worst of the group's ports: gone, else without a link that it had, else up. */
enum server_port_state server_ports_of_group(const struct server_ports *p, size_t group);

/* What its driver has counted, or had. False where it counts nothing; `stats` is then what was last told. */
bool server_port_stats(const struct server_port *port, struct rte_eth_stats *stats);

/* Nobody uses it any more, and its device goes back to the system: it is SERVER_PORT_GONE and not open. */
void server_port_give_back(struct server_port *port);

/* Opens all: the R-PHY ports receive into `uepi`, the others into `packets`. Returns 0, or -1 after a
 * message. */
int server_ports_open(struct server_ports *p, struct rte_mempool *packets,
		      struct rte_mempool *uepi);

/* Has one queue again: the card steers nothing. It is not started. Returns 0, or -1 after a message. */
int server_port_unsteer(struct server_port *port, struct rte_mempool *pool);

/* Starts all that were opened: from now on packets may come. Returns 0, or -1 after a message. */
int server_ports_start(struct server_ports *p);

/* The group's port, or NULL where it has none. */
const struct server_port *server_port_of(const struct server_ports *p, size_t group,
					 enum device_role role);

/*
 * For a group that comes: the index of the port whose device it names, among those that are open. Else a new
 * one, which is plugged, opened and not started; `pool` is where it receives. SERVER_NO_PORT after a message.
 */
unsigned server_ports_join(struct server_ports *p, const struct service_group *sg, unsigned group,
			   enum device_role role, struct rte_mempool *pool);

/* The group uses it no more: `groups` are those that remain. Of the last one it is closed and unplugged. */
void server_ports_part(struct server_ports *p, const struct service_group *const *groups,
		       unsigned group, enum device_role role);

/* The open port that has the group's device; SERVER_NO_PORT: there is none. */
unsigned server_ports_having(const struct server_ports *p, const char *device);

/* Bytes of the longest IP packet of the group on a port of that role. */
uint32_t server_port_mtu(const struct service_group *sg, enum device_role role);

/* Descriptors of one port, and packets of its rings where it is shared: one a group, and one to the port. */
unsigned server_port_descriptors(const struct server_port *port);

/* Descriptors of all ports of the role, and packets of the rings where they are shared. */
unsigned server_ports_descriptors(const struct server_ports *p, enum device_role role);

/* Closes what is open. Harmless on a zeroed one. */
void server_ports_free(struct server_ports *p);
