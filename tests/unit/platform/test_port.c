/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports: what is asked of a device, and what is left of one that could not be had. */
#include "test_main.h"

#include <rte_eth_ring.h>
#include <rte_ethdev.h>

#include "platform/port.h"

#include "fixture.h"

#define QUEUE 64

static uint16_t device_make(const char *name, struct rte_ring **ring) {
	int port;

	*ring = rte_ring_create(name, QUEUE, SOCKET_ID_ANY, RING_F_SP_ENQ | RING_F_SC_DEQ);
	assert_non_null(*ring);
	port = rte_eth_from_ring(*ring);
	assert_true(port >= 0);
	return (uint16_t)port;
}

/* net_ring has no function to change the MTU, so that what it knows is what it was configured with. */
TEST(drivers_know_the_mtu_when_they_are_configured) {
	static const uint16_t mtus[] = {1500, 1982, 4000, 9000};
	struct rte_mempool *pool = fixture_pool("mtu", 255, FIXTURE_ROOM);

	for (size_t i = 0; i < RTE_DIM(mtus); i++) {
		char name[RTE_ETH_NAME_MAX_LEN], device[RTE_ETH_NAME_MAX_LEN];
		struct rte_ring *ring;
		uint16_t made, opened, mtu;

		snprintf(name, sizeof(name), "mtu%zu", i);
		made = device_make(name, &ring);
		assert_int_equal(rte_eth_dev_get_name_by_port(made, device), 0);
		assert_int_equal(port_open(device, "test", pool, QUEUE, mtus[i], &opened), 0);
		assert_int_equal(opened, made);
		assert_int_equal(rte_eth_dev_get_mtu(opened, &mtu), 0);
		assert_int_equal(mtu, mtus[i]);
		port_close(opened);
		rte_ring_free(ring);
	}
	fixture_pool_end(pool);
}

/* As many queues as are asked for, or as the device has. */
TEST(queues_of_a_device) {
	static const struct port_queues cases[][2] = {
		{{4, 4}, {2, 3}}, {{1, 2}, {1, 2}}, {{1, 1}, {1, 1}}, {{0, 0}, {1, 1}}};
	struct rte_mempool *pool = fixture_pool("queues", 1023, FIXTURE_ROOM);
	char device[RTE_ETH_NAME_MAX_LEN];
	struct rte_eth_dev_info info;
	struct rte_ring *rings[3];

	for (unsigned r = 0; r < RTE_DIM(rings); r++) {
		snprintf(device, sizeof(device), "queue_ring%u", r);
		rings[r] = rte_ring_create(device, QUEUE, SOCKET_ID_ANY, 0);
		assert_non_null(rings[r]);
	}
	for (size_t i = 0; i < RTE_DIM(cases); i++) {
		struct port_queues queues = cases[i][0];
		char name[RTE_ETH_NAME_MAX_LEN];
		uint16_t opened;
		int made;

		snprintf(name, sizeof(name), "queues%zu", i);
		made = rte_eth_from_rings(name, rings, 2, rings, 3, 0);
		assert_true(made >= 0);
		assert_int_equal(rte_eth_dev_get_name_by_port((uint16_t)made, device), 0);
		assert_int_equal(
			port_open_queues(device, "test", pool, QUEUE, 1500, &queues, &opened), 0);
		assert_int_equal(queues.receive, cases[i][1].receive);
		assert_int_equal(queues.transmit, cases[i][1].transmit);
		assert_int_equal(rte_eth_dev_info_get(opened, &info), 0);
		assert_int_equal(info.nb_rx_queues, queues.receive);
		assert_int_equal(info.nb_tx_queues, queues.transmit);
		assert_int_equal(port_start(opened, "test"), 0);
		port_close(opened);
	}
	for (unsigned r = 0; r < RTE_DIM(rings); r++)
		rte_ring_free(rings[r]);
	fixture_pool_end(pool);
}

/* Where the second end cannot be had, for its ring or for itself, the first one goes. */
TEST(pair_that_cannot_be_had) {
	struct rte_mempool *pool = fixture_pool("pair", 255, FIXTURE_ROOM);
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
	fixture_pool_end(pool);
}

/* A device that comes while the process runs, goes, and comes again. */
TEST(devices_come_and_go) {
	static const char device[] = "net_null7,no-rx=1";
	unsigned before = rte_eth_dev_count_avail();
	uint16_t id;

	assert_int_equal(port_plug("net_nobody_knows", "network"), -1);
	for (int turn = 0; turn < 3; turn++) {
		assert_int_equal(port_plug(device, "network"), 0);
		assert_int_equal(port_plug(device, "network"), 0); /* is there */
		assert_int_equal(rte_eth_dev_count_avail(), before + 1);
		assert_int_equal(rte_eth_dev_get_port_by_name("net_null7", &id), 0);
		port_close(id);
		port_unplug(device);
		port_unplug(device); /* is not there */
		assert_int_equal(rte_eth_dev_count_avail(), before);
	}
}

ALL_TESTS(fixture_start, fixture_stop)
