/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Devices that refuse what others take, as DPDK's drivers of clouds do: a port of net_ring with the limits of net_ena or
 * net_gve (DPDK 22.11), put between the program and the library.
 */
#include "test_main.h"

#include <errno.h>

#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "platform/flow.h"
#include "platform/port.h"
#include "platform/port_setup.h"
#include "platform/port_wake.h"

#include "fixture.h"
#include "log/log_pipe.h"

#define QUEUE 64
#define BUFFERS 255

/* What the device is like. */
static struct device {
	uint32_t pktlen;
	uint16_t mtu; /* 0: as net_ring */
	uint16_t least, most; /* descriptors; most 0: as net_ring */
	bool powers; /* of two, and it does not say so */
	int mtu_set; /* what comes of that */
	bool no_wakes; /* found out at the start */
} device;

static uint16_t received, transmitted; /* descriptors of the queues that were set up last */
static struct log_pipe said;

__typeof__(rte_eth_dev_info_get) __real_rte_eth_dev_info_get, __wrap_rte_eth_dev_info_get;
__typeof__(rte_eth_dev_adjust_nb_rx_tx_desc) __real_rte_eth_dev_adjust_nb_rx_tx_desc,
	__wrap_rte_eth_dev_adjust_nb_rx_tx_desc;
__typeof__(rte_eth_rx_queue_setup) __real_rte_eth_rx_queue_setup, __wrap_rte_eth_rx_queue_setup;
__typeof__(rte_eth_tx_queue_setup) __real_rte_eth_tx_queue_setup, __wrap_rte_eth_tx_queue_setup;
__typeof__(rte_eth_dev_configure) __real_rte_eth_dev_configure, __wrap_rte_eth_dev_configure;
__typeof__(rte_eth_dev_start) __real_rte_eth_dev_start, __wrap_rte_eth_dev_start;
__typeof__(rte_eth_dev_set_mtu) __wrap_rte_eth_dev_set_mtu;
int __wrap_rte_eth_dev_conf_get(uint16_t id,
				struct rte_eth_conf *conf); /* the library's is not stable yet */

int __wrap_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info) {
	int ret = __real_rte_eth_dev_info_get(id, info);

	if (device.mtu != 0) {
		info->max_mtu = device.mtu;
		info->max_rx_pktlen = device.pktlen;
	}
	return ret;
}

static void adjust(uint16_t *size) {
	if (size != NULL && device.most != 0)
		*size = RTE_MAX(RTE_MIN(*size, device.most), device.least);
}

int __wrap_rte_eth_dev_adjust_nb_rx_tx_desc(uint16_t id, uint16_t *rx, uint16_t *tx) {
	adjust(rx);
	adjust(tx);
	return __real_rte_eth_dev_adjust_nb_rx_tx_desc(id, rx, tx);
}

int __wrap_rte_eth_rx_queue_setup(uint16_t id, uint16_t queue, uint16_t size, unsigned socket,
				  const struct rte_eth_rxconf *conf, struct rte_mempool *pool) {
	if (device.powers && !rte_is_power_of_2(size))
		return -EINVAL;
	received = size;
	return __real_rte_eth_rx_queue_setup(id, queue, size, socket, conf, pool);
}

int __wrap_rte_eth_tx_queue_setup(uint16_t id, uint16_t queue, uint16_t size, unsigned socket,
				  const struct rte_eth_txconf *conf) {
	if (device.powers && !rte_is_power_of_2(size))
		return -EINVAL;
	transmitted = size;
	return __real_rte_eth_tx_queue_setup(id, queue, size, socket, conf);
}

int __wrap_rte_eth_dev_set_mtu(uint16_t id, uint16_t mtu) {
	(void)id;
	(void)mtu;
	return device.mtu_set;
}

/* net_ring refuses interrupts at once, which those of clouds do not. */
static bool wakes;

int __wrap_rte_eth_dev_configure(uint16_t id, uint16_t rx, uint16_t tx,
				 const struct rte_eth_conf *conf) {
	struct rte_eth_conf plain = *conf;

	wakes = conf->intr_conf.rxq;
	plain.intr_conf.rxq = 0;
	return __real_rte_eth_dev_configure(id, rx, tx, &plain);
}

int __wrap_rte_eth_dev_conf_get(uint16_t id, struct rte_eth_conf *conf) {
	(void)id;
	*conf = (struct rte_eth_conf){.rxmode.mtu = RTE_ETHER_MTU, .intr_conf.rxq = wakes};
	return 0;
}

int __wrap_rte_eth_dev_start(uint16_t id) {
	return device.no_wakes && wakes ? -ENOTSUP : __real_rte_eth_dev_start(id);
}

/* Both limits told: what is between them is the driver's own. */
TEST(mtus) {
	static const struct {
		uint32_t pktlen;
		uint16_t mtu;
		uint32_t limit;
	} cases[] = {
		{9216 + 18, 9216, 9216}, /* net_ena */
		{1460 + 14, 1460, 1460}, /* net_gve of 22.11 */
		{16384 - 4, 8896, 8896}, /* and of 24.11 */
		{9728, 9702, 9702}, /* net_ice: VLAN tags too */
		{1518, UINT16_MAX, 1500}, /* told by frames alone */
		{0, UINT16_MAX, UINT16_MAX}, /* not told */
		{1518, 1500, 1500},
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct rte_eth_dev_info info = {.max_rx_pktlen = cases[i].pktlen,
						.max_mtu = cases[i].mtu};

		assert_int_equal(port_setup_mtu_limit(&info), cases[i].limit);
	}
}

struct outcome {
	int ret;
	uint16_t descriptors; /* of both queues; 0: any */
	bool wakes;
	const char *said; /* NULL: nothing */
};

/* Opens and starts a port on this device, asking for interrupts where `asks` says so. */
static void opened(struct device like, bool asks, uint32_t queue_size, uint32_t mtu,
		   struct outcome wanted) {
	struct rte_mempool *pool = fixture_pool("cloud", BUFFERS, FIXTURE_ROOM);
	static unsigned count; /* a device of net_ring stays until the end */
	char name[RTE_ETH_NAME_MAX_LEN];
	struct rte_ring *ring;
	uint16_t id;
	int port, ret;

	snprintf(name, sizeof(name), "limits%u", count++);
	ring = rte_ring_create(name, QUEUE, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	assert_non_null(ring);
	port = rte_eth_from_ring(ring);
	assert_true(port >= 0);
	assert_int_equal(rte_eth_dev_get_name_by_port((uint16_t)port, name), 0);
	device = like;
	port_wakes_ask(asks);
	log_pipe_open(&said, LOG_TEXT, LEVEL_INFO);
	ret = port_open(name, "R-PHY", pool, queue_size, mtu, &id);
	if (ret == 0)
		ret = port_start(id, "R-PHY");
	assert_int_equal(ret, wanted.ret);
	if (wanted.descriptors != 0) {
		assert_int_equal(received, wanted.descriptors);
		assert_int_equal(transmitted, wanted.descriptors);
	}
	assert_int_equal(wakes, wanted.wakes);
	if (wanted.said == NULL)
		assert_string_equal(log_pipe_read(&said), "");
	else
		assert_int_equal(log_pipe_count(log_pipe_read(&said), wanted.said), 1);
	if (ret == 0) {
		assert_false(flow_known(id)); /* such drivers have no rte_flow */
		port_close(id);
	}
	log_pipe_close(&said);
	rte_ring_free(ring);
	fixture_pool_end(pool);
}

/* net_ena says how many descriptors it has, and refuses those that are no power of two. net_gve has queues of one size. */
TEST(descriptors) {
	opened((struct device){9234, 9216, 128, 1024, .powers = true}, false, 1000, 1500,
	       (struct outcome){0, 512, false,
				"refuses queues of 1000 descriptors, and has 512 to receive"});
	opened((struct device){0, 0, 128, 1024, .powers = true}, false, 4096, 1500,
	       (struct outcome){0, 1024, false, NULL});
	opened((struct device){1474, 1460, 1024, 1024}, false, 64, 1500,
	       (struct outcome){0, 1024, false,
				"queue_size: found 64, and the driver takes no less than 1024"});
}

/* An MTU that is Ethernet's own is taken to be had; a longer one is not. */
TEST(mtu_refused) {
	opened((struct device){.mtu_set = -EIO}, false, 64, 1500,
	       (struct outcome){0, 64, false, "refuses an MTU of 1500"});
	opened((struct device){.mtu_set = -EIO}, false, 64, 4000,
	       (struct outcome){-1, 0, false, "cannot be set up"});
	opened((struct device){.mtu_set = -ENOTSUP}, false, 64, 4000,
	       (struct outcome){0, 64, false, NULL});
}

/* net_ena on igb_uio takes interrupts when it is configured, and fails when it is started. */
TEST(no_wakes) {
	opened((struct device){.no_wakes = true}, true, 64, 1500,
	       (struct outcome){0, 64, false, "set up without, sleep is shorter"});
	/* one that has them keeps them */
	opened((struct device){0}, true, 64, 1500, (struct outcome){0, 64, true, NULL});
}

ALL_TESTS(fixture_start, fixture_stop)
