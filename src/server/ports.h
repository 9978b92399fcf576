/* SPDX-License-Identifier: BSD-3-Clause */
/* The ports of a server: each device once, and which group uses which. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <rte_mempool.h>

#include "model/server_config.h"
#include "platform/platform.h"

enum port_role {
	PORT_NETWORK,
	PORT_RPHY,
	PORT_CONTROL, /* of groups that have one */
	PORT_ROLES,
};

#define SERVER_PORTS_MAX (SERVER_MAX_GROUPS * PORT_ROLES)
#define SERVER_NO_PORT SERVER_PORTS_MAX /* in the place of an index */

struct server_port {
	char *device; /* as DPDK takes it; NULL where the port is given by who made it */
	enum port_role role; /* of the group that names it first */
	unsigned first; /* index of that group */
	unsigned users; /* groups */
	uint32_t queue_size; /* as the next: the largest that one of them asks for */
	uint32_t mtu;
	bool open;
	uint16_t id; /* of an open one */
};

struct server_ports {
	struct server_port list[SERVER_PORTS_MAX];
	unsigned count;
	uint16_t of[SERVER_MAX_GROUPS][PORT_ROLES]; /* index into the list */
};

/* What the command line says instead of the configuration, by role; NULL: nothing. */
struct server_devices {
	const char *texts[PORT_ROLES];
};

/*
 * Lists the devices of all groups in the zeroed `p`; with several groups "{group}" in a text of the
 * command line stands for the place of the group in the file, from 0 on. Returns 0, or -1 after a
 * message where one device is found for two ports, or more than DPDK has room for. To be freed by
 * server_ports_free() in either case.
 */
int server_ports_find(struct server_ports *p, const struct server_config *config,
		      const struct server_devices *devices);

/* Each group has ports of its own, which are given by server_ports_give(). */
void server_ports_own(struct server_ports *p, const struct server_config *config);

/* An open port for the group. From now on it is closed by server_ports_free(); one port may be given to
 * several groups. */
void server_ports_give(struct server_ports *p, unsigned group, enum port_role role, uint16_t id);

/* The names for platform_start(). Returns how many they are. */
unsigned server_ports_devices(const struct server_ports *p,
			      const char *devices[PLATFORM_MAX_DEVICES]);

/* Opens all: the R-PHY ports receive into `uepi`, the others into `packets`. Returns 0, or -1 after a
 * message. */
int server_ports_open(struct server_ports *p, struct rte_mempool *packets,
		      struct rte_mempool *uepi);

/* Starts all that were opened: from now on packets may come. Returns 0, or -1 after a message. */
int server_ports_start(struct server_ports *p);

/* The group's port, or NULL where it has none. */
const struct server_port *server_port_of(const struct server_ports *p, size_t group,
					 enum port_role role);

/* Descriptors of all ports of the role. */
unsigned server_ports_descriptors(const struct server_ports *p, enum port_role role);

/* Closes what is open. Harmless on a zeroed one. */
void server_ports_free(struct server_ports *p);
