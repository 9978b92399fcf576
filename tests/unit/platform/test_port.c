/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests port.h and port_setup.h: how ports are configured, and the cleanup after a failure. The
 * devices are net_ring ports. Wrapped ethdev functions give these the limits of cloud drivers:
 * net_ena and net_gve of DPDK 22.11. */
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

/* How the wrapped functions behave. */
static struct device {
	uint32_t pktlen;
	uint16_t mtu; /* 0: as net_ring */
	uint16_t min_descriptors, max_descriptors; /* maximum 0: as net_ring */
	bool pow2_only; /* accepts powers of two only, but does not announce it */
	int set_mtu_result; /* return value of rte_eth_dev_set_mtu() */
	bool interrupts; /* the program requests receive interrupts */
	bool no_interrupts; /* the device has none and fails at its start */
} device;

static uint16_t rx_descriptors, tx_descriptors; /* descriptors of the latest queue setup */
static struct log_pipe messages;

__typeof__(rte_eth_dev_info_get) __real_rte_eth_dev_info_get, __wrap_rte_eth_dev_info_get;
__typeof__(rte_eth_dev_adjust_nb_rx_tx_desc) __real_rte_eth_dev_adjust_nb_rx_tx_desc,
	__wrap_rte_eth_dev_adjust_nb_rx_tx_desc;
__typeof__(rte_eth_rx_queue_setup) __real_rte_eth_rx_queue_setup, __wrap_rte_eth_rx_queue_setup;
__typeof__(rte_eth_tx_queue_setup) __real_rte_eth_tx_queue_setup, __wrap_rte_eth_tx_queue_setup;
__typeof__(rte_eth_dev_configure) __real_rte_eth_dev_configure, __wrap_rte_eth_dev_configure;
__typeof__(rte_eth_dev_start) __real_rte_eth_dev_start, __wrap_rte_eth_dev_start;
__typeof__(rte_eth_dev_set_mtu) __wrap_rte_eth_dev_set_mtu;
int __wrap_rte_eth_dev_conf_get(uint16_t id, struct rte_eth_conf *conf); /* experimental in DPDK */

int __wrap_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info) {
	int ret = __real_rte_eth_dev_info_get(id, info);

	if (device.mtu != 0) {
		info->max_mtu = device.mtu;
		info->max_rx_pktlen = device.pktlen;
	}
	return ret;
}

static void limit_descriptors(uint16_t *size) {
	if (size != NULL && device.max_descriptors != 0)
		*size = RTE_MAX(RTE_MIN(*size, device.max_descriptors), device.min_descriptors);
}

int __wrap_rte_eth_dev_adjust_nb_rx_tx_desc(uint16_t id, uint16_t *rx, uint16_t *tx) {
	limit_descriptors(rx);
	limit_descriptors(tx);
	return __real_rte_eth_dev_adjust_nb_rx_tx_desc(id, rx, tx);
}

int __wrap_rte_eth_rx_queue_setup(uint16_t id, uint16_t queue, uint16_t size, unsigned socket,
				  const struct rte_eth_rxconf *conf, struct rte_mempool *pool) {
	if (device.pow2_only && !rte_is_power_of_2(size))
		return -EINVAL;
	rx_descriptors = size;
	return __real_rte_eth_rx_queue_setup(id, queue, size, socket, conf, pool);
}

int __wrap_rte_eth_tx_queue_setup(uint16_t id, uint16_t queue, uint16_t size, unsigned socket,
				  const struct rte_eth_txconf *conf) {
	if (device.pow2_only && !rte_is_power_of_2(size))
		return -EINVAL;
	tx_descriptors = size;
	return __real_rte_eth_tx_queue_setup(id, queue, size, socket, conf);
}

int __wrap_rte_eth_dev_set_mtu(uint16_t id, uint16_t mtu) {
	(void)id;
	(void)mtu;
	return device.set_mtu_result;
}

/* net_ring rejects interrupts when it is configured; cloud drivers do so when they are started. */
static bool interrupts;

int __wrap_rte_eth_dev_configure(uint16_t id, uint16_t rx, uint16_t tx,
				 const struct rte_eth_conf *conf) {
	struct rte_eth_conf plain = *conf;

	interrupts = conf->intr_conf.rxq;
	plain.intr_conf.rxq = 0;
	return __real_rte_eth_dev_configure(id, rx, tx, &plain);
}

int __wrap_rte_eth_dev_conf_get(uint16_t id, struct rte_eth_conf *conf) {
	(void)id;
	*conf = (struct rte_eth_conf){.rxmode.mtu = RTE_ETHER_MTU, .intr_conf.rxq = interrupts};
	return 0;
}

int __wrap_rte_eth_dev_start(uint16_t id) {
	return device.no_interrupts && interrupts ? -ENOTSUP : __real_rte_eth_dev_start(id);
}

static struct rte_mempool *pool;

/* Creates a net_ring device with that many receive and transmit rings, and writes its name. Returns
 * its port. The device is never removed. */
static uint16_t make_device(char name[RTE_ETH_NAME_MAX_LEN], unsigned receive, unsigned transmit) {
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

/* The limit of the MTU from a driver's limits of MTU and frame length. */
TEST(mtu_limit_follows_driver_limits) {
	static const struct {
		uint32_t pktlen;
		uint16_t mtu;
		uint32_t limit;
	} cases[] = {
		{9216 + 18, 9216, 9216}, /* net_ena */
		{1460 + 14, 1460, 1460}, /* net_gve of 22.11 */
		{16384 - 4, 8896, 8896}, /* and of 24.11 */
		{9728, 9702, 9702}, /* net_ice: counts VLAN tags */
		{1518, UINT16_MAX, 1500}, /* frame length alone */
		{0, UINT16_MAX, UINT16_MAX}, /* no limit */
		{1518, 1500, 1500},
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct rte_eth_dev_info info = {.max_rx_pktlen = cases[i].pktlen,
						.max_mtu = cases[i].mtu};

		assert_int_equal(port_setup_mtu_limit(&info), cases[i].limit);
	}
}

/* net_ring cannot change its MTU later, so it reports the MTU of its configuration. */
TEST(mtu_is_set_by_configuration) {
	static const uint16_t mtus[] = {1500, 1982, 4000, 9000};

	device = (struct device){.set_mtu_result = -ENOTSUP};
	for (size_t i = 0; i < RTE_DIM(mtus); i++) {
		char name[RTE_ETH_NAME_MAX_LEN];
		uint16_t made = make_device(name, 1, 1), opened, mtu;

		assert_int_equal(port_open(name, "test", pool, QUEUE, mtus[i], &opened), 0);
		assert_int_equal(opened, made);
		assert_int_equal(rte_eth_dev_get_mtu(opened, &mtu), 0);
		assert_int_equal(mtu, mtus[i]);
		port_close(opened);
	}
}

TEST(queues_are_limited_to_device) {
	static const struct port_queues cases[][2] = {
		{{4, 4}, {2, 3}}, {{1, 2}, {1, 2}}, {{1, 1}, {1, 1}}, {{0, 0}, {1, 1}}};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct port_queues queues = cases[i][0];
		char name[RTE_ETH_NAME_MAX_LEN];
		struct rte_eth_dev_info info;
		uint16_t opened;

		make_device(name, 2, 3);
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

/* If the second port of a pair, or its ring, cannot be created, the first port is removed. */
TEST(failed_pair_is_removed) {
	const unsigned ports = rte_eth_dev_count_avail();
	struct rte_ring *ring, *other;
	uint16_t ids[2], second;
	int port;

	ring = rte_ring_create("pair_1", QUEUE, SOCKET_ID_ANY, 0);
	assert_int_equal(port_pair("pair", pool, QUEUE, ids), -1);
	assert_null(rte_ring_lookup("pair_0"));
	rte_ring_free(ring);

	other = rte_ring_create("other", QUEUE, SOCKET_ID_ANY, 0);
	port = rte_eth_from_rings("pair_1", &other, 1, &other, 1, 0);
	assert_true(port >= 0);
	second = (uint16_t)port;
	assert_int_equal(port_pair("pair", pool, QUEUE, ids), -1);
	assert_int_equal(rte_eth_dev_count_avail(), ports + 1);
	assert_null(rte_ring_lookup("pair_0"));
	assert_null(rte_ring_lookup("pair_1"));
	port_close(second);
	rte_ring_free(other);

	assert_int_equal(port_pair("pair2", pool, QUEUE, ids), 0);
	assert_int_equal(rte_eth_dev_count_avail(), ports + 2);
	port_close(ids[0]);
	port_close(ids[1]);
}

TEST(devices_are_plugged_and_unplugged) {
	static const char arguments[] = "net_null7,no-rx=1";
	unsigned before = rte_eth_dev_count_avail();
	uint16_t id;

	assert_int_equal(port_plug("net_unknown", "network"), -1);
	for (int round = 0; round < 3; round++) {
		assert_int_equal(port_plug(arguments, "network"), 0);
		assert_int_equal(port_plug(arguments, "network"), 0); /* already plugged */
		assert_int_equal(rte_eth_dev_count_avail(), before + 1);
		assert_int_equal(rte_eth_dev_get_port_by_name("net_null7", &id), 0);
		port_close(id);
		port_unplug(arguments);
		port_unplug(arguments); /* already unplugged */
		assert_int_equal(rte_eth_dev_count_avail(), before);
	}
}

TEST(port_opens_within_device_limits) {
	static const struct {
		struct device device;
		uint32_t queue_size, mtu;
		int ret;
		uint16_t descriptors; /* of both queues; 0: any */
		const char *messages; /* NULL: nothing */
	} cases[] = {
		/* net_ena reports descriptor limits, but rejects sizes that are no power of two */
		{{9234, 9216, 128, 1024, .pow2_only = true}, 1000, 1500, 0, 512, "512 to receive"},
		{{0, 0, 128, 1024, .pow2_only = true}, 4096, 1500, 0, 1024, NULL},
		/* net_gve has one queue size */
		{{1474, 1460, 1024, 1024}, 64, 1500, 0, 1024, "at least 1024, the driver's"},
		/* failure to set Ethernet's own MTU is a warning, a longer MTU is an error */
		{{.set_mtu_result = -EIO}, 64, 1500, 0, 64, "refuses an MTU of 1500"},
		{{.set_mtu_result = -EIO}, 64, 4000, -1, 0, "cannot be set up"},
		{{.set_mtu_result = -ENOTSUP}, 64, 4000, 0, 64, NULL},
		/* net_ena on igb_uio accepts interrupts when configured, and fails when started */
		{{.interrupts = true, .no_interrupts = true},
		 64,
		 1500,
		 0,
		 64,
		 "configured without them, so sleeps are shorter"},
		{{.interrupts = true}, 64, 1500, 0, 64, NULL}, /* keeps its interrupts */
	};

	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		char name[RTE_ETH_NAME_MAX_LEN];
		uint16_t id;
		int ret;

		make_device(name, 1, 1);
		device = cases[i].device;
		port_wakes_enable(device.interrupts);
		log_pipe_open(&messages, LOG_TEXT, LEVEL_INFO);
		ret = port_open(name, "R-PHY", pool, cases[i].queue_size, cases[i].mtu, &id);
		if (ret == 0)
			ret = port_start(id, "R-PHY");
		assert_int_equal(ret, cases[i].ret);
		if (cases[i].descriptors != 0) {
			assert_int_equal(rx_descriptors, cases[i].descriptors);
			assert_int_equal(tx_descriptors, cases[i].descriptors);
		}
		assert_int_equal(interrupts, device.interrupts && !device.no_interrupts);
		log_pipe_read(&messages);
		assert_int_equal(log_pipe_count(messages.text, "\n"), cases[i].messages != NULL);
		if (cases[i].messages != NULL)
			assert_non_null(strstr(messages.text, cases[i].messages));
		if (ret == 0) {
			assert_false(flow_known(id)); /* no rte_flow */
			port_close(id);
		}
		log_pipe_close(&messages);
	}
}

static int set_up(void **state) {
	int ret = fixture_start(state);

	pool = fixture_pool_create("ports", BUFFERS, FIXTURE_BUFFER_SIZE);
	return ret;
}

static int tear_down(void **state) {
	fixture_pool_free(pool);
	return fixture_stop(state);
}

ALL_TESTS(set_up, tear_down)
