/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/ports.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_ether.h>

#include "platform/checksums.h"
#include "platform/log/log.h"
#include "platform/port.h"
#include "platform/port_watch.h"

#define SHARE_RING 1024u
#define SHARE_RING_SMALL 256u
#define SHARE_RING_GROUPS 8u /* with more groups, rings are small */

unsigned server_share_ring(size_t groups) {
	return groups <= SHARE_RING_GROUPS ? SHARE_RING : SHARE_RING_SMALL;
}

/* Bytes of the longest IP packet: of a subscriber, or of DEPI and UEPI. */
uint32_t server_port_mtu(const struct service_group *sg, enum device_role role) {
	return role == DEVICE_RPHY ? sg->rphy.mtu
				   : sg->max_frame - RTE_ETHER_HDR_LEN - RTE_ETHER_CRC_LEN;
}

static bool has_vlan(const struct service_group *sg, enum device_role role) {
	return (role == DEVICE_NETWORK && sg->network.vlan != 0) ||
	       (role == DEVICE_RPHY && sg->rphy_port.vlan != 0);
}

/* Adds a group to the port's users. */
static void port_use(struct server_ports *p, unsigned index, const struct service_group *sg,
		     size_t group, enum device_role role) {
	struct server_port *port = &p->list[index];

	port->users++;
	port->tagged = port->tagged || has_vlan(sg, role);
	port->shared = port->shared || port->users > 1 || port->tagged;
	port->queue_size = RTE_MAX(port->queue_size, device_port(sg, role)->queue_size);
	port->mtu = RTE_MAX(port->mtu, server_port_mtu(sg, role));
	port->no_steering |= device_port(sg, role)->steering == STEERING_OFF;
	p->of[group][role] = (uint16_t)index;
}

static unsigned port_append(struct server_ports *p, size_t group, enum device_role role) {
	p->list[p->count] = (struct server_port){.role = role, .first = (unsigned)group};
	return p->count++;
}

static int refuse_two_roles(const char *text) {
	log_error("port", LOG_NO_FIELDS, "two ports have the device %.*s; give each its own",
		  (int)strcspn(text, ","), text);
	return -1;
}

/* Index of the port that has the device, added if there is none; or -1 and logs the reason. */
static int port_of_device(struct server_ports *p, size_t group, enum device_role role,
			  const char *device) {
	for (unsigned i = 0; i < p->count; i++) {
		if (device_same(p->list[i].device, device))
			return p->list[i].role == role ? (int)i : refuse_two_roles(device);
	}
	if (p->count == PLATFORM_MAX_DEVICES) {
		log_error("port", LOG_NO_FIELDS, "more than %u devices in one process",
			  PLATFORM_MAX_DEVICES);
		return -1;
	}
	p->list[port_append(p, group, role)].device = device;
	return (int)p->count - 1;
}

/* Drivers without flow rules: no memory is reserved for more queues. */
static bool never_steers(const char *device) {
	static const char *const drivers[] = {"net_memif", "net_null",	    "net_pcap",
					      "eth_pcap",  "eth_af_packet", "net_af_packet",
					      "net_af_xdp"};

	for (size_t d = 0; d < RTE_DIM(drivers); d++) {
		if (strncmp(device, drivers[d], strlen(drivers[d])) == 0)
			return true;
	}
	return false;
}

/* Requests one queue per possible group if the NIC may be able to steer. */
static void ports_want_queues(struct server_ports *p, size_t max) {
	for (unsigned i = 0; i < p->count; i++) {
		struct server_port *port = &p->list[i];

		if (port->shared && port->role != DEVICE_CONTROL && !port->no_steering &&
		    !never_steers(port->device))
			port->queues_max = (uint16_t)max;
	}
}

int server_ports_find(struct server_ports *p, const struct server_config *config) {
	for (size_t g = 0; g < config->group_count; g++) {
		const struct service_group *sg = &config->groups[g];

		for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
			const char *device = device_port(sg, role)->device;
			int index;

			p->of[g][role] = SERVER_NO_PORT;
			if (device == NULL)
				continue;
			index = port_of_device(p, g, role, device);
			if (index < 0)
				return -1;
			port_use(p, (unsigned)index, sg, g, role);
		}
	}
	ports_want_queues(p, server_config_max_groups(config));
	return 0;
}

void server_ports_separate(struct server_ports *p, const struct server_config *config) {
	for (size_t g = 0; g < config->group_count; g++) {
		const struct service_group *sg = &config->groups[g];

		for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
			p->of[g][role] = SERVER_NO_PORT;
			if (!device_role_optional(role) || device_port(sg, role)->device != NULL)
				port_use(p, port_append(p, g, role), sg, g, role);
		}
	}
}

static void port_opened(struct server_port *port) {
	port->open = true;
	port->state = SERVER_PORT_DOWN;
	port->had_link = false;
	port->waits = port_waits_for_link(port->id);
	if (rte_eth_dev_get_name_by_port(port->id, port->name) != 0)
		port->name[0] = '\0';
	port_watch(port->id);
}

void server_ports_set(struct server_ports *p, unsigned group, enum device_role role, uint16_t id) {
	uint16_t *of = &p->of[group][role];

	for (unsigned i = 0; i < p->count; i++) {
		if (p->list[i].open && p->list[i].id == id) {
			if (*of != SERVER_NO_PORT)
				p->list[i].mtu = RTE_MAX(p->list[i].mtu, p->list[*of].mtu);
			*of = (uint16_t)i;
			p->list[i].users++;
			p->list[i].shared = true;
			return;
		}
	}
	if (*of == SERVER_NO_PORT) {
		*of = (uint16_t)port_append(p, group, role);
		p->list[*of].users = 1;
	}
	p->list[*of].id = id;
	port_opened(&p->list[*of]);
}

unsigned server_ports_devices(const struct server_ports *p,
			      const char *devices[PLATFORM_MAX_DEVICES]) {
	for (unsigned i = 0; i < p->count; i++)
		devices[i] = p->list[i].device;
	return p->count;
}

/* DEPI frames of the MTU must fit. Longer packets do not arrive from the network, but packets sent
 * there must fit a memif's buffers; otherwise DPDK 22.11 repeats old buffers. */
static bool mtu_passes(const struct server_port *port) {
	uint32_t limit = port_mtu_limit(port->id, port->tagged), more = 0;
	bool memif = port_waits_for_link(port->id), rphy = port->role == DEVICE_RPHY;

	if (port->mtu <= limit || !(rphy || (memif && port->role == DEVICE_NETWORK)))
		return true;
	if (!rphy)
		more = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;
	log_error("port", LOG_NO_FIELDS, "%s: found %u, allowed: up to %u on this %s port%s",
		  rphy ? "rphy.mtu" : "max_frame", port->mtu + more, limit + more,
		  device_role_title(port->role),
		  memif ? ", or a larger bsize= at both ends of the memif" : "");
	return false;
}

const char *server_port_state_name(enum server_port_state state) {
	static const char *const names[SERVER_PORT_STATES] = {
		[SERVER_PORT_DOWN] = "down",
		[SERVER_PORT_UP] = "up",
		[SERVER_PORT_GONE] = "gone",
	};

	return names[state];
}

enum drop_reason server_port_shut(const struct server_port *port) {
	if (port->state == SERVER_PORT_GONE)
		return DROP_PORT_GONE;
	return port->state == SERVER_PORT_DOWN && port->had_link && !port->waits ? DROP_LINK_DOWN
										 : DROP_NONE;
}

enum server_port_state server_ports_of_group(const struct server_ports *p, size_t group) {
	enum server_port_state worst = SERVER_PORT_UP;

	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		const struct server_port *port = server_port_of(p, group, role);

		if (port == NULL)
			continue;
		if (port->state == SERVER_PORT_GONE)
			return SERVER_PORT_GONE;
		if (server_port_shut(port) != DROP_NONE)
			worst = SERVER_PORT_DOWN;
	}
	return worst;
}

bool server_port_stats(const struct server_port *port, struct rte_eth_stats *stats) {
	*stats = port->last;
	return !port->open || !rte_eth_dev_is_valid_port(port->id) ||
	       rte_eth_stats_get(port->id, stats) == 0;
}

void server_port_detach(struct server_port *port) {
	server_port_stats(port, &port->last);
	port->state = SERVER_PORT_GONE;
	port->open = false;
	port_detach(port->id);
}

static int port_begin(struct server_port *port, struct rte_mempool *pool) {
	struct port_queues queues = {
		.receive = port->queues_max + 1,
		.transmit = 1,
		.further_size = server_share_ring(port->queues_max),
	};

	if (port_open_queues(port->device, device_role_title(port->role), pool, port->queue_size,
			     port->mtu, &queues, &port->id) != 0)
		return -1;
	port_opened(port);
	checksums_watch(port->id, port->device, device_role_title(port->role));
	port->queues = queues.receive - 1;
	return mtu_passes(port) ? 0 : -1;
}

int server_port_unsteer(struct server_port *port, struct rte_mempool *pool) {
	struct port_queues queues = {.receive = 1, .transmit = 1};

	port->queues = 0;
	return port_reopen(port->id, device_role_title(port->role), pool, port->queue_size,
			   port->mtu, &queues);
}

int server_ports_open(struct server_ports *p, struct rte_mempool *packets,
		      struct rte_mempool *uepi) {
	for (unsigned i = 0; i < p->count; i++) {
		if (port_begin(&p->list[i], p->list[i].role == DEVICE_RPHY ? uepi : packets) != 0)
			return -1;
	}
	return 0;
}

unsigned server_ports_find_device(const struct server_ports *p, const char *device) {
	for (unsigned i = 0; i < p->count; i++) {
		if (p->list[i].open && device_same(p->list[i].device, device))
			return i;
	}
	return SERVER_NO_PORT;
}

/* A free slot, or one more. */
static unsigned port_slot(struct server_ports *p, unsigned group, enum device_role role) {
	for (unsigned i = 0; i < p->count; i++) {
		if (p->list[i].open || p->list[i].users > 0)
			continue;
		p->list[i] = (struct server_port){.role = role, .first = group};
		return i;
	}
	return port_append(p, group, role);
}

static void port_end(struct server_port *port) {
	if (port->open)
		port_close(port->id);
	if (port->device != NULL && port->state != SERVER_PORT_GONE)
		port_unplug(port->device);
	*port = (struct server_port){.role = port->role};
}

unsigned server_ports_join(struct server_ports *p, const struct service_group *sg, unsigned group,
			   enum device_role role, struct rte_mempool *pool) {
	const char *device = device_port(sg, role)->device;
	unsigned index = server_ports_find_device(p, device);

	if (index == SERVER_NO_PORT) {
		index = port_slot(p, group, role);
		p->list[index].device = device;
		p->list[index].queue_size = device_port(sg, role)->queue_size;
		p->list[index].mtu = server_port_mtu(sg, role);
		p->list[index].tagged = has_vlan(sg, role);
		if (port_plug(device, device_role_title(role)) != 0 ||
		    port_begin(&p->list[index], pool) != 0) {
			port_end(&p->list[index]);
			return SERVER_NO_PORT;
		}
	}
	port_use(p, index, sg, group, role);
	return index;
}

void server_ports_leave(struct server_ports *p, const struct service_group *const *groups,
			unsigned group, enum device_role role) {
	unsigned index = p->of[group][role];
	struct server_port *port = &p->list[index];

	if (index == SERVER_NO_PORT)
		return;
	p->of[group][role] = SERVER_NO_PORT;
	if (--port->users == 0) {
		port_end(port);
		return;
	}
	/* the port's name and first group become those of a remaining group */
	for (unsigned g = 0; g < SERVER_MAX_GROUPS; g++) {
		if (g == group || groups[g] == NULL || p->of[g][role] != index)
			continue;
		port->first = g;
		if (port->device != NULL)
			port->device = device_port(groups[g], role)->device;
	}
}

int server_ports_start(struct server_ports *p) {
	static const enum device_role order[] = {DEVICE_RPHY, DEVICE_NETWORK, DEVICE_CONTROL};

	for (size_t r = 0; r < RTE_DIM(order); r++) {
		for (unsigned i = 0; i < p->count; i++) {
			if (p->list[i].role == order[r] &&
			    port_start(p->list[i].id, device_role_title(order[r])) != 0)
				return -1;
		}
	}
	return 0;
}

const struct server_port *server_port_of(const struct server_ports *p, size_t group,
					 enum device_role role) {
	unsigned index = p->of[group][role];

	return index == SERVER_NO_PORT ? NULL : &p->list[index];
}

unsigned server_port_descriptors(const struct server_port *port) {
	unsigned rings = port->shared ? port->users + 1 : 0;
	unsigned queues = port->queues_max * server_share_ring(port->queues_max);

	return port->queue_size + rings * server_share_ring(port->users) + queues;
}

unsigned server_ports_descriptors(const struct server_ports *p, enum device_role role) {
	unsigned sum = 0;

	for (unsigned i = 0; i < p->count; i++) {
		if (p->list[i].role == role)
			sum += server_port_descriptors(&p->list[i]);
	}
	return sum;
}

void server_ports_free(struct server_ports *p) {
	for (unsigned i = 0; i < p->count; i++) {
		if (p->list[i].open)
			port_close(p->list[i].id);
	}
	memset(p, 0, sizeof(*p));
}
