/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Ports: what is asked of a device, and what is left of one that could not be had. And devices that refuse what others take,
 * as DPDK's drivers of clouds do: a port of net_ring with the limits of net_ena or net_gve (DPDK 22.11), put between the
 * program and the library.
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
#define BUFFERS 1023

/* What the device is like. */
static struct device {
	uint32_t pktlen;
	uint16_t mtu; /* 0: as net_ring */
	uint16_t least, most; /* descriptors; most 0: as net_ring */
	bool powers; /* of two, and it does not say so */
	int mtu_set; /* what comes of that */
	bool wakes; /* is asked for interrupts */
	bool no_wakes; /* which it has not, as is found out at the start */
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

static struct rte_mempool *pool;

/* A device of net_ring, which stays until the end, with rings that it receives and transmits by. */
static uint16_t device_make(char name[RTE_ETH_NAME_MAX_LEN], unsigned receive, unsigned transmit) {
	static unsigned count;
	struct rte_ring *rings[3];
	int port;

	for (unsigned r = 0; r < RTE_DIM(rings); r++) {
		snprintf(name, RTE_ETH_NAME_MAX_LEN, "ring%u_%u", count, r);
		rings[r] = rte_ring_create(name, QUEUE, SOCKET_ID_ANY, 0);
		assert_non_null(rings[r]);
	}
	snprintf(name, RTE_ETH_NAME_MAX_LEN, "device%u", count++);
	port = rte_eth_from_rings(name, rings, receive, rings, transmit, 0);
	assert_true(port >= 0);
	assert_int_equal(rte_eth_dev_get_name_by_port((uint16_t)port, name), 0);
	return (uint16_t)port;
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

/* net_ring has no function to change the MTU, so that what it knows is what it was configured with. */
TEST(drivers_know_the_mtu_when_they_are_configured) {
	static const uint16_t mtus[] = {1500, 1982, 4000, 9000};

	device = (struct device){.mtu_set = -ENOTSUP};
	for (size_t i = 0; i < RTE_DIM(mtus); i++) {
		char name[RTE_ETH_NAME_MAX_LEN];
		uint16_t made = device_make(name, 1, 1), opened, mtu;

		assert_int_equal(port_open(name, "test", pool, QUEUE, mtus[i], &opened), 0);
		assert_int_equal(opened, made);
		assert_int_equal(rte_eth_dev_get_mtu(opened, &mtu), 0);
		assert_int_equal(mtu, mtus[i]);
		port_close(opened);
	}
}

TEST(queues_of_a_device) {
	static const struct port_queues cases[][2] = {
		{{4, 4}, {2, 3}}, {{1, 2}, {1, 2}}, {{1, 1}, {1, 1}}, {{0, 0}, {1, 1}}};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct port_queues queues = cases[i][0];
		char name[RTE_ETH_NAME_MAX_LEN];
		struct rte_eth_dev_info info;
		uint16_t opened;

		device_make(name, 2, 3);
		assert_int_equal(
			port_open_queues(name, "test", pool, QUEUE, 1500, &queues, &opened), 0);
		assert_int_equal(queues.receive, cases[i][1].receive);
		assert_int_equal(queues.transmit, cases[i][1].transmit);
		assert_int_equal(rte_eth_dev_info_get(opened, &info), 0);
		assert_int_equal(info.nb_rx_queues, queues.receive);
		assert_int_equal(info.nb_tx_queues, queues.transmit);
		assert_int_equal(port_start(opened, "test"), 0);
		port_close(opened);
	}
}

/* Where the second end cannot be had, for its ring or for itself, the first one goes. */
TEST(pair_that_cannot_be_had) {
	const unsigned ports = rte_eth_dev_count_avail();
	struct rte_ring *ring, *other;
	uint16_t ids[2], taken;
	int port;

	ring = rte_ring_create("pair_1", QUEUE, SOCKET_ID_ANY, 0);
	assert_int_equal(port_pair("pair", pool, QUEUE, ids), -1);
	assert_null(rte_ring_lookup("pair_0"));
	rte_ring_free(ring);

	other = rte_ring_create("other", QUEUE, SOCKET_ID_ANY, 0);
	port = rte_eth_from_rings("pair_1", &other, 1, &other, 1, 0);
	assert_true(port >= 0);
	taken = (uint16_t)port;
	assert_int_equal(port_pair("pair", pool, QUEUE, ids), -1);
	assert_int_equal(rte_eth_dev_count_avail(), ports + 1);
	assert_null(rte_ring_lookup("pair_0"));
	assert_null(rte_ring_lookup("pair_1"));
	port_close(taken);
	rte_ring_free(other);

	assert_int_equal(port_pair("pair2", pool, QUEUE, ids), 0);
	assert_int_equal(rte_eth_dev_count_avail(), ports + 2);
	port_close(ids[0]);
	port_close(ids[1]);
}

TEST(devices_come_and_go) {
	static const char added[] = "net_null7,no-rx=1";
	unsigned before = rte_eth_dev_count_avail();
	uint16_t id;

	assert_int_equal(port_plug("net_nobody_knows", "network"), -1);
	for (int turn = 0; turn < 3; turn++) {
		assert_int_equal(port_plug(added, "network"), 0);
		assert_int_equal(port_plug(added, "network"), 0); /* is there */
		assert_int_equal(rte_eth_dev_count_avail(), before + 1);
		assert_int_equal(rte_eth_dev_get_port_by_name("net_null7", &id), 0);
		port_close(id);
		port_unplug(added);
		port_unplug(added); /* is not there */
		assert_int_equal(rte_eth_dev_count_avail(), before);
	}
}

/* Ports that are opened and started, with interrupts where they are asked for. */
TEST(limits_of_devices) {
	static const struct {
		struct device device;
		uint32_t queue_size, mtu;
		int ret;
		uint16_t descriptors; /* of both queues; 0: any */
		const char *said; /* NULL: nothing */
	} cases[] = {
		/* net_ena says how many descriptors it has, and refuses those that are no power of two */
		{{9234, 9216, 128, 1024, .powers = true}, 1000, 1500, 0, 512, "has 512 to receive"},
		{{0, 0, 128, 1024, .powers = true}, 4096, 1500, 0, 1024, NULL},
		/* net_gve has queues of one size */
		{{1474, 1460, 1024, 1024}, 64, 1500, 0, 1024, "takes no less than 1024"},
		/* an MTU that is Ethernet's own is taken to be had; a longer one is not */
		{{.mtu_set = -EIO}, 64, 1500, 0, 64, "refuses an MTU of 1500"},
		{{.mtu_set = -EIO}, 64, 4000, -1, 0, "cannot be set up"},
		{{.mtu_set = -ENOTSUP}, 64, 4000, 0, 64, NULL},
		/* net_ena on igb_uio takes interrupts when it is configured, and fails when it is started */
		{{.wakes = true, .no_wakes = true},
		 64,
		 1500,
		 0,
		 64,
		 "set up without, sleep is shorter"},
		{{.wakes = true}, 64, 1500, 0, 64, NULL}, /* one that has them keeps them */
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		char name[RTE_ETH_NAME_MAX_LEN];
		uint16_t id;
		int ret;

		device_make(name, 1, 1);
		device = cases[i].device;
		port_wakes_enable(device.wakes);
		log_pipe_open(&said, LOG_TEXT, LEVEL_INFO);
		ret = port_open(name, "R-PHY", pool, cases[i].queue_size, cases[i].mtu, &id);
		if (ret == 0)
			ret = port_start(id, "R-PHY");
		assert_int_equal(ret, cases[i].ret);
		if (cases[i].descriptors != 0) {
			assert_int_equal(received, cases[i].descriptors);
			assert_int_equal(transmitted, cases[i].descriptors);
		}
		assert_int_equal(wakes, device.wakes && !device.no_wakes);
		log_pipe_read(&said);
		assert_int_equal(log_pipe_count(said.text, "\n"), cases[i].said != NULL);
		if (cases[i].said != NULL)
			assert_non_null(strstr(said.text, cases[i].said));
		if (ret == 0) {
			assert_false(flow_known(id)); /* such drivers have no rte_flow */
			port_close(id);
		}
		log_pipe_close(&said);
	}
}

static int start(void **state) {
	int ret = fixture_start(state);

	pool = fixture_pool("ports", BUFFERS, FIXTURE_ROOM);
	return ret;
}

static int stop(void **state) {
	fixture_pool_end(pool);
	return fixture_stop(state);
}

ALL_TESTS(start, stop)
