/* SPDX-License-Identifier: BSD-3-Clause */
/* Ports: what is asked of a device, and what is left of one that could not be had. */
#include "test.h"

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
static void drivers_know_the_mtu_when_they_are_configured(void **state) {
	static const uint16_t mtus[] = {1500, 1982, 4000, 9000};
	struct rte_mempool *pool = fixture_pool("mtu", 255, FIXTURE_ROOM);

	(void)state;
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

static void one_device_has_many_names(void **state) {
	static const struct {
		const char *a, *b;
		bool same;
	} pairs[] = {
		{"net_null0", "net_null0", true},
		{"net_null0", "net_null0,size=128", true},
		{"net_null0", "net_null00", false},
		{"net_null0", "net_null", false},
		{"net_memif0,id=1", "net_memif1,id=1", false},
		{"0000:3b:00.0", "3b:00.0", true},
		{"3B:00.0,arg=1", "0000:3b:00.0", true},
		{"0000:3b:00.0", "0000:3b:00.1", false},
		{"0001:3b:00.0", "3b:00.0", false},
		{"3b:00.0", "net_null0", false},
	};

	(void)state;
	for (size_t i = 0; i < RTE_DIM(pairs); i++) {
		assert_int_equal(port_same_device(pairs[i].a, pairs[i].b), pairs[i].same);
		assert_int_equal(port_same_device(pairs[i].b, pairs[i].a), pairs[i].same);
	}
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_device_has_many_names),
		cmocka_unit_test(drivers_know_the_mtu_when_they_are_configured),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
