/* SPDX-License-Identifier: BSD-3-Clause */
#define ALLOW_EXPERIMENTAL_API /* rte_eth_dev_conf_get(), in DPDK 22.11 */
#include "platform/port_setup.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <rte_bus.h>
#include <rte_dev.h>
#include <rte_devargs.h>
#include <rte_errno.h>
#include <rte_kvargs.h>

#include "platform/log/log.h"
#include "platform/port_wake.h"

#define MEMIF_BUFFER 2048u /* bytes, without bsize= */
#define LOG_PORT(level, role, ...) \
	log_##level("port", LOG_FIELDS(LOG_STRING("port", role)), __VA_ARGS__)

/* Drivers that report both limits compute the frame overhead differently: net_gve excludes the CRC, or
 * includes the whole buffer. */
uint32_t port_setup_mtu_limit(const struct rte_eth_dev_info *info) {
	uint32_t overhead = RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN;

	if (info->max_mtu != UINT16_MAX && info->max_rx_pktlen > info->max_mtu)
		return info->max_mtu;
	if (info->max_rx_pktlen <= overhead) /* unknown */
		return info->max_mtu;
	return RTE_MIN((uint32_t)info->max_mtu, info->max_rx_pktlen - overhead);
}

static bool is_memif(const struct rte_eth_dev_info *info) {
	return strcmp(info->driver_name, "net_memif") == 0;
}

static int buffer_size_parse(const char *key, const char *value, void *size) {
	(void)key;
	*(uint32_t *)size = (uint32_t)RTE_MIN(strtoul(value, NULL, 10), UINT16_MAX);
	return 0;
}

/* Bytes of a memif's buffers, by the arguments of this side. */
static uint32_t memif_buffer_size(const struct rte_eth_dev_info *info) {
	const struct rte_devargs *devargs =
		info->device != NULL ? rte_dev_devargs(info->device) : NULL;
	struct rte_kvargs *arguments = devargs != NULL && devargs->args != NULL
					       ? rte_kvargs_parse(devargs->args, NULL)
					       : NULL;
	uint32_t size = MEMIF_BUFFER;

	if (arguments != NULL)
		rte_kvargs_process(arguments, "bsize", buffer_size_parse, &size);
	rte_kvargs_free(arguments);
	return size;
}

uint32_t port_setup_carries(const struct rte_eth_dev_info *info, bool tagged) {
	uint32_t headers = RTE_ETHER_HDR_LEN + (tagged ? RTE_VLAN_HLEN : 0), size;

	if (!is_memif(info))
		return port_setup_mtu_limit(info);
	size = memif_buffer_size(info);
	return size > headers ? size - headers : 0;
}

/* Some drivers choose the size of their receive buffers during configuration, and need the MTU then. */
static struct rte_eth_conf port_conf(const struct rte_eth_dev_info *info, uint32_t mtu) {
	struct rte_eth_conf conf = {0};

	conf.rxmode.mtu = mtu;
	conf.rxmode.offloads = info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_IPV4_CKSUM;
	conf.txmode.offloads = info->tx_offload_capa & RTE_ETH_TX_OFFLOAD_MULTI_SEGS;
	conf.intr_conf.rxq = port_wakes_enabled();
	conf.intr_conf.rmv = (*info->dev_flags & RTE_ETH_DEV_INTR_RMV) != 0;
	return conf;
}

/* Drivers without an MTU (net_memif, net_ring, net_pcap) accept any frame. A driver that refuses Ethernet's
 * MTU is assumed to have it. */
static int mtu_set(uint16_t id, const char *role, uint32_t mtu) {
	int ret = rte_eth_dev_set_mtu(id, (uint16_t)mtu);

	if (ret == 0 || ret == -ENOTSUP)
		return 0;
	if (mtu > RTE_ETHER_MTU)
		return ret;
	LOG_PORT(warning, role,
		 "port %s: the driver refuses an MTU of %u (%s) and keeps its "
		 "default",
		 role, mtu, rte_strerror(-ret));
	return 0;
}

/* Limits the queues to those of the device. Both sides of a memif must have the same number of
 * queues, which cannot be checked here, so it gets one; net_tap has only pairs of queues. */
static void queues_limit(const struct rte_eth_dev_info *info, struct port_queues *q) {
	uint16_t receive = RTE_MAX(RTE_MIN(q->receive, info->max_rx_queues), 1);
	uint16_t transmit = RTE_MAX(RTE_MIN(q->transmit, info->max_tx_queues), 1);
	bool memif = is_memif(info);
	bool tap = strcmp(info->driver_name, "net_tap") == 0;
	uint16_t pairs = RTE_MIN(RTE_MAX(receive, transmit),
				 RTE_MIN(info->max_rx_queues, info->max_tx_queues));

	q->receive = memif ? 1 : tap ? pairs : receive;
	q->transmit = memif ? 1 : tap ? pairs : transmit;
}

/* Descriptors of the queues. */
struct sizes {
	uint16_t receive, further, transmit;
};

static int sizes_limit(uint16_t id, const char *role, uint32_t queue_size,
		       const struct port_queues *q, struct sizes *s) {
	uint16_t requested = (uint16_t)RTE_MIN(queue_size, (uint32_t)UINT16_MAX);
	int ret;

	*s = (struct sizes){requested, requested, requested};
	if (q->further_size != 0)
		s->further = (uint16_t)RTE_MIN(q->further_size, (uint32_t)UINT16_MAX);
	ret = rte_eth_dev_adjust_nb_rx_tx_desc(id, &s->receive, &s->transmit);
	if (ret == 0)
		ret = rte_eth_dev_adjust_nb_rx_tx_desc(id, &s->further, NULL);
	if (ret == 0 && s->receive > requested)
		LOG_PORT(warning, role,
			 "port %s: queue_size: found %u, allowed: at least %u, the driver's "
			 "minimum; buffers are reserved for the configured size only",
			 role, requested, s->receive);
	return ret;
}

static int queues_setup(uint16_t id, struct rte_mempool *pool, const struct sizes *s,
			const struct port_queues *q) {
	int socket = rte_eth_dev_socket_id(id), ret = 0;

	for (uint16_t i = 0; i < q->receive && ret == 0; i++)
		ret = rte_eth_rx_queue_setup(id, i, i == 0 ? s->receive : s->further, socket, NULL,
					     pool);
	for (uint16_t i = 0; i < q->transmit && ret == 0; i++)
		ret = rte_eth_tx_queue_setup(id, i, s->transmit, socket, NULL);
	return ret;
}

static uint16_t power_below(uint16_t size) {
	return (uint16_t)rte_align32prevpow2(size);
}

/* net_ena accepts only powers of two, but does not report that. */
static int queues_of_powers(uint16_t id, const char *role, struct rte_mempool *pool,
			    const struct sizes *s, const struct port_queues *q) {
	struct sizes less = {power_below(s->receive), power_below(s->further),
			     power_below(s->transmit)};
	int ret;

	if (memcmp(s, &less, sizeof(less)) == 0)
		return -EINVAL;
	ret = queues_setup(id, pool, &less, q);
	if (ret == 0)
		LOG_PORT(notice, role,
			 "port %s: the driver refuses queues of %u descriptors and uses %u to "
			 "receive and %u to transmit",
			 role, s->receive, less.receive, less.transmit);
	return ret;
}

int port_setup(uint16_t id, const char *role, struct rte_mempool *pool, uint32_t queue_size,
	       uint32_t mtu, struct port_queues *q) {
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;
	struct sizes sizes;
	int ret;

	if ((ret = rte_eth_dev_info_get(id, &info)) != 0)
		return ret;
	mtu = RTE_MIN(mtu, port_setup_mtu_limit(&info));
	conf = port_conf(&info, mtu);
	queues_limit(&info, q);
	ret = rte_eth_dev_configure(id, q->receive, q->transmit, &conf);
	if (ret != 0 && conf.intr_conf.rxq != 0) { /* without interrupts, sleeps are shorter */
		conf.intr_conf.rxq = 0;
		ret = rte_eth_dev_configure(id, q->receive, q->transmit, &conf);
	}
	if (ret != 0 || (ret = mtu_set(id, role, mtu)) != 0)
		return ret;
	if ((ret = sizes_limit(id, role, queue_size, q, &sizes)) != 0)
		return ret;
	ret = queues_setup(id, pool, &sizes, q);
	return ret == -EINVAL ? queues_of_powers(id, role, pool, &sizes, q) : ret;
}

int port_setup_no_wakes(uint16_t id, const char *role) {
	struct rte_eth_dev_info info;
	struct rte_eth_conf conf;

	if (rte_eth_dev_conf_get(id, &conf) != 0 || conf.intr_conf.rxq == 0 ||
	    rte_eth_dev_info_get(id, &info) != 0)
		return -1;
	conf.intr_conf.rxq = 0;
	if (rte_eth_dev_configure(id, info.nb_rx_queues, info.nb_tx_queues, &conf) != 0)
		return -1;
	LOG_PORT(notice, role,
		 "port %s: does not start with queue interrupts: configured without them, so "
		 "sleeps are shorter",
		 role);
	return 0;
}

void port_setup_log_address(uint16_t id, const char *role) {
	struct rte_eth_dev_info info;
	struct rte_ether_addr mac;
	const struct rte_bus *bus;

	if (rte_eth_dev_info_get(id, &info) != 0 || info.device == NULL ||
	    rte_eth_macaddr_get(id, &mac) != 0)
		return;
	bus = rte_dev_bus(info.device);
	if (bus == NULL || strcmp(rte_bus_name(bus), "pci") != 0)
		return; /* a software device receives all frames anyway */
	LOG_PORT(notice, role,
		 "port %s: no promiscuous mode: only frames to " RTE_ETHER_ADDR_PRT_FMT " come in",
		 role, RTE_ETHER_ADDR_BYTES(&mac));
}
