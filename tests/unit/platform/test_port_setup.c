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

int __real_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info);
int __wrap_rte_eth_dev_info_get(uint16_t id, struct rte_eth_dev_info *info);
int __real_rte_eth_dev_adjust_nb_rx_tx_desc(uint16_t id, uint16_t *rx, uint16_t *tx);
int __wrap_rte_eth_dev_adjust_nb_rx_tx_desc(uint16_t id, uint16_t *rx, uint16_t *tx);
int __real_rte_eth_rx_queue_setup(uint16_t id, uint16_t queue, uint16_t size, unsigned socket,
				  const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
int __wrap_rte_eth_rx_queue_setup(uint16_t id, uint16_t queue, uint16_t size, unsigned socket,
				  const struct rte_eth_rxconf *conf, struct rte_mempool *pool);
int __real_rte_eth_tx_queue_setup(uint16_t id, uint16_t queue, uint16_t size, unsigned socket,
				  const struct rte_eth_txconf *conf);
int __wrap_rte_eth_tx_queue_setup(uint16_t id, uint16_t queue, uint16_t size, unsigned socket,
				  const struct rte_eth_txconf *conf);
int __wrap_rte_eth_dev_set_mtu(uint16_t id, uint16_t mtu);
int __real_rte_eth_dev_configure(uint16_t id, uint16_t rx, uint16_t tx,
				 const struct rte_eth_conf *conf);
int __wrap_rte_eth_dev_configure(uint16_t id, uint16_t rx, uint16_t tx,
				 const struct rte_eth_conf *conf);
int __real_rte_eth_dev_start(uint16_t id);
int __wrap_rte_eth_dev_start(uint16_t id);
int __wrap_rte_eth_dev_conf_get(uint16_t id, struct rte_eth_conf *conf);

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

/* A device that is opened and started, or refused; what was said in between. */
struct opened {
	struct rte_mempool *pool;
	struct rte_ring *ring;
	uint16_t id;
	int ret;
};

static struct opened open_one(uint32_t queue_size, uint32_t mtu) {
	struct opened o = {.pool = fixture_pool("cloud", BUFFERS, FIXTURE_ROOM)};
	static unsigned opened; /* a device of net_ring stays until the end */
	char name[RTE_ETH_NAME_MAX_LEN];
	int port;

	snprintf(name, sizeof(name), "limits%u", opened++);
	o.ring = rte_ring_create(name, QUEUE, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	assert_non_null(o.ring);
	port = rte_eth_from_ring(o.ring);
	assert_true(port >= 0);
	assert_int_equal(rte_eth_dev_get_name_by_port((uint16_t)port, name), 0);
	log_pipe_open(&said, LOG_TEXT, LEVEL_INFO);
	o.ret = port_open(name, "R-PHY", o.pool, queue_size, mtu, &o.id);
	if (o.ret == 0)
		o.ret = port_start(o.id, "R-PHY");
	return o;
}

static void close_one(struct opened *o) {
	log_pipe_close(&said);
	if (o->ret == 0)
		port_close(o->id);
	rte_ring_free(o->ring);
	fixture_pool_end(o->pool);
	device = (struct device){0};
	port_wakes_ask(false);
}

static bool was_said(const char *what) {
	return log_pipe_count(log_pipe_read(&said), what) == 1;
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

/* net_ena says how many descriptors it has, and refuses those that are no power of two. */
TEST(powers_of_two) {
	struct opened o;

	device = (struct device){.pktlen = 9234, .mtu = 9216, .least = 128, .most = 1024};
	device.powers = true;
	o = open_one(1000, 1500);
	assert_int_equal(o.ret, 0);
	assert_int_equal(received, 512);
	assert_int_equal(transmitted, 512);
	assert_true(was_said("refuses queues of 1000 descriptors, and has 512 to receive"));
	close_one(&o);

	device = (struct device){.least = 128, .most = 1024, .powers = true};
	o = open_one(4096, 1500);
	assert_int_equal(o.ret, 0);
	assert_int_equal(received, 1024);
	assert_string_equal(log_pipe_read(&said), "");
	close_one(&o);
}

/* net_gve has queues of one size. */
TEST(one_size) {
	struct opened o;

	device = (struct device){.pktlen = 1474, .mtu = 1460, .least = 1024, .most = 1024};
	o = open_one(64, 1500);
	assert_int_equal(o.ret, 0);
	assert_int_equal(received, 1024);
	assert_int_equal(transmitted, 1024);
	assert_true(was_said("queue_size: found 64, and the driver takes no less than 1024"));
	close_one(&o);
}

/* One that is Ethernet's own is taken to be had; a longer one is not. */
TEST(mtu_refused) {
	struct opened o;

	device.mtu_set = -EIO;
	o = open_one(64, 1500);
	assert_int_equal(o.ret, 0);
	assert_true(was_said("refuses an MTU of 1500"));
	close_one(&o);
	device.mtu_set = -EIO;
	o = open_one(64, 4000);
	assert_int_equal(o.ret, -1);
	assert_true(was_said("cannot be set up"));
	close_one(&o);
	device.mtu_set = -ENOTSUP;
	o = open_one(64, 4000);
	assert_int_equal(o.ret, 0);
	assert_string_equal(log_pipe_read(&said), "");
	close_one(&o);
}

/* net_ena on igb_uio takes interrupts when it is configured, and fails when it is started. */
TEST(no_wakes) {
	struct opened o;

	device.no_wakes = true;
	port_wakes_ask(true);
	o = open_one(64, 1500);
	assert_int_equal(o.ret, 0);
	assert_false(wakes);
	assert_true(was_said("set up without, sleep is shorter"));
	close_one(&o);
	port_wakes_ask(true); /* one that has them keeps them */
	o = open_one(64, 1500);
	assert_int_equal(o.ret, 0);
	assert_true(wakes);
	assert_string_equal(log_pipe_read(&said), "");
	close_one(&o);
}

/* Such drivers have no rte_flow. */
TEST(no_rules) {
	struct opened o;

	o = open_one(64, 1500);
	assert_int_equal(o.ret, 0);
	assert_false(flow_known(o.id));
	close_one(&o);
}

ALL_TESTS(fixture_start, fixture_stop)
