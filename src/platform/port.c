/* SPDX-License-Identifier: BSD-3-Clause */
#include "platform/port.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus.h>
#include <rte_cycles.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_errno.h>
#include <rte_eth_ring.h>
#include <rte_ethdev.h>
#include <rte_ring.h>

#include "platform/checksums.h"
#include "platform/device_socket.h"
#include "platform/log/log.h"
#include "platform/platform.h"
#include "platform/port_setup.h"

static const struct port_queues port_one_queue = {.receive = 1, .transmit = 1};

/* A PCI address may omit its domain, as in the output of lspci. */
static int port_named(const char *device, uint16_t *id) {
	char name[RTE_ETH_NAME_MAX_LEN], full[RTE_ETH_NAME_MAX_LEN + 5];

	snprintf(name, sizeof(name), "%.*s", (int)strcspn(device, ","), device);
	snprintf(full, sizeof(full), "0000:%s", name);
	if (rte_eth_dev_get_port_by_name(name, id) == 0)
		return 0;
	return rte_eth_dev_get_port_by_name(full, id);
}

static int port_find(const char *device, const char *role, uint16_t *id) {
	if (port_named(device, id) == 0)
		return 0;
	log_error("port", LOG_FIELDS(LOG_STRING("port", role)),
		  "port %s: DPDK did not create device %.*s; check its arguments and its "
		  "driver",
		  role, (int)strcspn(device, ","), device);
	return -1;
}

int port_start(uint16_t id, const char *role) {
	int ret = rte_eth_dev_start(id);

	if (ret != 0 && port_setup_no_wakes(id, role) == 0)
		ret = rte_eth_dev_start(id);
	if (ret != 0) {
		log_error("port", LOG_FIELDS(LOG_STRING("port", role)),
			  "port %s: cannot be started: %s", role, rte_strerror(-ret));
		return -1;
	}
	if (rte_eth_promiscuous_enable(id) != 0)
		port_setup_log_address(id, role);
	return 0;
}

int port_open_queues(const char *device, const char *role, struct rte_mempool *pool,
		     uint32_t queue_size, uint32_t mtu, struct port_queues *queues, uint16_t *id) {
	int ret;

	if (port_find(device, role, id) != 0)
		return -1;
	if (strncmp(device, "net_af_xdp", 10) == 0 && !platform_has_huge_pages())
		log_warning("port", LOG_FIELDS(LOG_STRING("port", role)),
			    "port %s: net_af_xdp may receive nothing without huge pages: "
			    "reserve huge pages",
			    role);
	ret = port_setup(*id, role, pool, queue_size, mtu, queues);
	if (ret == 0)
		return 0;
	log_error("port", LOG_FIELDS(LOG_STRING("port", role)), "port %s: %s: cannot be set up: %s",
		  role, device, rte_strerror(-ret));
	port_close(*id); /* its queues may have buffers of the pool */
	return -1;
}

int port_reopen(uint16_t id, const char *role, struct rte_mempool *pool, uint32_t queue_size,
		uint32_t mtu, struct port_queues *queues) {
	int ret;

	rte_eth_dev_stop(id);
	ret = port_setup(id, role, pool, queue_size, mtu, queues);
	if (ret == 0)
		return 0;
	log_error("port", LOG_FIELDS(LOG_STRING("port", role)),
		  "port %s: cannot be reconfigured: %s", role, rte_strerror(-ret));
	return -1;
}

int port_open(const char *device, const char *role, struct rte_mempool *pool, uint32_t queue_size,
	      uint32_t mtu, uint16_t *id) {
	struct port_queues queues = port_one_queue;

	return port_open_queues(device, role, pool, queue_size, mtu, &queues, id);
}

void port_stop(uint16_t id) {
	rte_eth_dev_stop(id);
}

uint32_t port_mtu_limit(uint16_t id, bool tagged) {
	struct rte_eth_dev_info info;

	return rte_eth_dev_info_get(id, &info) == 0 ? port_setup_carries(&info, tagged) : 0;
}

/* The name of one port of a pair, and of the ring that it receives from. */
static void end_name(const char *name, unsigned end, char text[RTE_ETH_NAME_MAX_LEN / 2]) {
	snprintf(text, RTE_ETH_NAME_MAX_LEN / 2, "%.20s_%u", name, end);
}

static int pair_end(const char *name, unsigned end, struct rte_ring *rings[2],
		    struct rte_mempool *pool, unsigned depth, uint16_t *id) {
	struct port_queues queues = port_one_queue;
	char text[RTE_ETH_NAME_MAX_LEN / 2];
	int port;

	end_name(name, end, text);
	port = rte_eth_from_rings(text, &rings[end], 1, &rings[1 - end], 1, 0);
	if (port < 0) {
		log_error("port", LOG_FIELDS(LOG_STRING("port", name)), "port %s: net_ring: %s",
			  name, rte_strerror(rte_errno));
		return -1;
	}
	*id = (uint16_t)port;
	if (port_setup(*id, name, pool, depth, RTE_ETHER_MTU, &queues) == 0 &&
	    port_start(*id, name) == 0)
		return 0;
	log_error("port", LOG_FIELDS(LOG_STRING("port", name)),
		  "port %s: net_ring: cannot be set up", name);
	port_close(*id);
	return -1;
}

int port_pair(const char *name, struct rte_mempool *pool, unsigned depth, uint16_t ids[2]) {
	struct rte_ring *rings[2] = {NULL, NULL};
	char text[RTE_ETH_NAME_MAX_LEN / 2];
	unsigned made = 0;

	for (unsigned i = 0; i < 2; i++) {
		end_name(name, i, text);
		rings[i] =
			rte_ring_create(text, depth, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
		if (rings[i] == NULL) {
			log_error("port", LOG_FIELDS(LOG_STRING("port", name)),
				  "port %s: no ring of %u packets: %s", name, depth,
				  rte_strerror(rte_errno));
			break;
		}
	}
	while (rings[1] != NULL && made < 2 &&
	       pair_end(name, made, rings, pool, depth, &ids[made]) == 0)
		made++;
	if (made == 2)
		return 0;
	if (made == 1)
		port_close(ids[0]);
	rte_ring_free(rings[0]);
	rte_ring_free(rings[1]);
	return -1;
}

/*
 * net_memif announces chained buffers. But since some later version (seen in DPDK 24.11, not in 22.11) it
 * does not clear the chain flag in its descriptors, so that later frames appear chained.
 */
bool port_supports_chains(uint16_t id, unsigned buffers) {
	struct rte_eth_dev_info info;
	uint16_t max;

	if (rte_eth_dev_info_get(id, &info) != 0 || strcmp(info.driver_name, "net_memif") == 0)
		return false;
	max = info.tx_desc_lim.nb_mtu_seg_max; /* 0: the driver has no limit */
	return (info.tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS) != 0 &&
	       (max == 0 || max >= buffers);
}

bool port_wait_link(uint16_t id, unsigned timeout_ms) {
	struct rte_eth_link link;

	for (unsigned waited = 0;; waited += 10) {
		if (rte_eth_link_get_nowait(id, &link) == 0 && link.link_status)
			return true;
		if (waited >= timeout_ms)
			return false;
		rte_delay_us_sleep(10000);
	}
}

void port_close(uint16_t id) {
	rte_eth_dev_stop(id);
	checksums_unwatch(id);
	rte_eth_dev_close(id);
}

int port_plug(const char *device, const char *role) {
	uint16_t id;
	int ret;

	if (port_named(device, &id) == 0)
		return 0;
	if (device_socket_claim(device) != 0)
		return -1;
	ret = rte_dev_probe(device);
	if (ret == 0)
		return 0;
	device_socket_release(device);
	log_error("port", LOG_FIELDS(LOG_STRING("port", role)),
		  "port %s: %s: cannot be plugged: %s", role, device, rte_strerror(-ret));
	return -1;
}

void port_unplug(const char *device) {
	struct rte_devargs args = {0};

	if (rte_devargs_parse(&args, device) == 0)
		rte_eal_hotplug_remove(rte_bus_name(args.bus), args.name);
	free(args.data);
	device_socket_release(device);
}
