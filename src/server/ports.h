/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of a server, one per device, and the ports of each group. */
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
#define SERVER_NO_PORT SERVER_PORTS_MAX /* as an index: no port */

/* State of a port that is or was open. */
enum server_port_state {
	SERVER_PORT_DOWN, /* no link, or not checked yet */
	SERVER_PORT_UP,
	SERVER_PORT_GONE, /* its device was removed */
	SERVER_PORT_STATES,
};

struct server_port {
	const char *device; /* of the configuration; NULL: server_ports_set() supplied the port */
	enum device_role role; /* in the first group that names it */
	unsigned first; /* slot of that group */
	unsigned users; /* number of groups */
	bool shared; /* several groups use it, or a group has a VLAN on it: src/sharing */
	bool tagged; /* frames of one of its groups have a VLAN tag */
	uint32_t queue_size; /* like `mtu`, the largest of its groups */
	uint32_t mtu;
	bool open;
	uint16_t id; /* valid while the port is open */
	/* Set by links_update(), in src/server/links. */
	enum server_port_state state;
	bool had_link; /* since the port was opened */
	bool waits; /* packets to send wait for the link */
	/* DPDK's name, also after removal; empty: the port was never open */
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_eth_stats last; /* the driver's statistics when the device was removed */
	bool no_steering; /* one of its groups disables steering */
	uint16_t queues_max; /* receive queues to request after the first, one per group */
	uint16_t queues; /* receive queues after the first; 0: software distributes packets */
	unsigned counted; /* descriptors and ring slots for which buffers are reserved */
};

struct server_ports {
	struct server_port list[SERVER_PORTS_MAX];
	unsigned count;
	uint16_t of[SERVER_MAX_GROUPS][DEVICE_ROLES]; /* index into the list, or SERVER_NO_PORT */
};

/* Size in packets of a group's ring on a shared port. */
unsigned server_share_ring(size_t groups);

/*
 * Lists the devices of all groups in the zeroed `p`. Returns 0, or -1 and logs the reason if one
 * device has two roles, or there are more devices than DPDK supports. `config` must outlive `p`.
 * The caller calls server_ports_free() in either case.
 */
int server_ports_find(struct server_ports *p, const struct server_config *config);

/* Gives each group ports of its own, to be set by server_ports_set(). */
void server_ports_separate(struct server_ports *p, const struct server_config *config);

/* Sets an open port of the group, which server_ports_free() will close. A port that several groups
 * get is shared. */
void server_ports_set(struct server_ports *p, unsigned group, enum device_role role, uint16_t id);

/* Lists the device names for platform_start(). Returns their number. */
unsigned server_ports_devices(const struct server_ports *p,
			      const char *devices[PLATFORM_MAX_DEVICES]);

/* "up", "down", "gone". */
const char *server_port_state_name(enum server_port_state state);

/* The drop reason of frames that are sent to the port now; DROP_NONE: they are sent, or wait for
 * the link. */
enum drop_reason server_port_shut(const struct server_port *port);

/* The worst state of the group's ports: gone, then down after it had a link, else up. */
enum server_port_state server_ports_of_group(const struct server_ports *p, size_t group);

/* Reads the driver's statistics, or the last ones of a removed device. Returns false if the driver
 * has none; then `stats` are the last ones that were read. */
bool server_port_stats(const struct server_port *port, struct rte_eth_stats *stats);

/* Closes a port that no worker uses and detaches its device, so that the system can remove it. The
 * port becomes SERVER_PORT_GONE. */
void server_port_detach(struct server_port *port);

/* Opens all ports: R-PHY ports receive into `uepi`, others into `packets`. Returns 0, or -1 and
 * logs the reason. */
int server_ports_open(struct server_ports *p, struct rte_mempool *packets,
		      struct rte_mempool *uepi);

/* Reopens a stopped port with one queue, without steering. Returns 0, or -1 and logs the reason. */
int server_port_unsteer(struct server_port *port, struct rte_mempool *pool);

/* Starts all open ports; packets arrive from now on. Returns 0, or -1 and logs the reason. */
int server_ports_start(struct server_ports *p);

/* The group's port, or NULL if it has none. */
const struct server_port *server_port_of(const struct server_ports *p, size_t group,
					 enum device_role role);

/*
 * Adds a group to the open port of its device, or else plugs and opens a new port, without starting
 * it; `pool` is its receive pool. Returns the port's index, or SERVER_NO_PORT and logs the reason.
 */
unsigned server_ports_join(struct server_ports *p, const struct service_group *sg, unsigned group,
			   enum device_role role, struct rte_mempool *pool);

/* Removes a group from its port; `groups` are those that remain. The last group's port is closed
 * and unplugged. */
void server_ports_leave(struct server_ports *p, const struct service_group *const *groups,
			unsigned group, enum device_role role);

/* Index of the open port with this device; SERVER_NO_PORT: none. */
unsigned server_ports_find_device(const struct server_ports *p, const char *device);

/* Bytes of the longest IP packet of the group on a port of that role. */
uint32_t server_port_mtu(const struct service_group *sg, enum device_role role);

/* Descriptors of one port, plus the slots of its rings if it is shared: a ring per group, and one
 * to the port. */
unsigned server_port_descriptors(const struct server_port *port);

/* The same of all ports of the role. */
unsigned server_ports_descriptors(const struct server_ports *p, enum device_role role);

/* Closes the open ports. Accepts a zeroed struct. */
void server_ports_free(struct server_ports *p);
