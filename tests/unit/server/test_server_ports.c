/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the ports of a server: their devices, sharing, opening and release. */
#include "test_main.h"

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "model/load/loader.h"
#include "platform/port.h"
#include "server/server.h"

#include "fixture.h"
#include "life_kit.h"

#define GROUPS 3

static struct service_group groups[SERVER_MAX_GROUPS];
static struct server_ports ports;

static const struct server_port *port(unsigned group, enum device_role role) {
	return server_port_of(&ports, group, role);
}

static struct server_config load_config(size_t count) {
	static char names[2 * SERVER_MAX_GROUPS][24];

	for (unsigned g = 0; g < count; g++) {
		life_kit_load(&groups[g], g + 1, g, 0, 0, 0);
		groups[g].network.device = names[2 * g];
		groups[g].rphy_port.device = names[2 * g + 1];
		groups[g].rphy_port.queue_size = 128;
	}
	for (unsigned n = 0; n < 2 * count; n++)
		snprintf(names[n], sizeof(names[n]), "net_null%u,no-rx=1", n);
	return (struct server_config){.groups = groups, .group_count = count};
}

static void free_config(const struct server_config *config) {
	server_ports_free(&ports);
	for (size_t g = 0; g < config->group_count; g++)
		service_group_free(&config->groups[g]);
}

TEST(ports_are_those_of_configuration) {
	const struct server_config config = load_config(GROUPS);
	const char *devices[PLATFORM_MAX_DEVICES];

	assert_int_equal(server_ports_find(&ports, &config), 0);
	assert_int_equal(server_ports_devices(&ports, devices), 2 * GROUPS);
	assert_string_equal(devices[0], "net_null0,no-rx=1");
	assert_string_equal(devices[5], "net_null5,no-rx=1");
	assert_int_equal(server_ports_descriptors(&ports, DEVICE_NETWORK), 64 * GROUPS);
	assert_int_equal(server_ports_descriptors(&ports, DEVICE_RPHY), 128 * GROUPS);
	assert_int_equal(server_ports_descriptors(&ports, DEVICE_CONTROL), 0);
	assert_ptr_equal(port(2, DEVICE_RPHY)->device, devices[5]);
	assert_null(port(2, DEVICE_CONTROL));
	assert_string_equal(device_role_title(DEVICE_NETWORK), "network");
	assert_string_equal(device_role_title(DEVICE_RPHY), "R-PHY");
	assert_string_equal(device_role_title(DEVICE_CONTROL), "control");
	free_config(&config);
}

static void check_refused(const struct server_config *config) {
	assert_int_equal(server_ports_find(&ports, config), -1);
	server_ports_free(&ports);
}

TEST(device_of_two_roles_is_refused) {
	struct server_config config = load_config(1);
	struct service_group *sg = &config.groups[0];

	sg->control_port.device = (char[]){"net_tap0"};
	sg->rphy_port.device = sg->network.device;
	check_refused(&config);
	sg->rphy_port.device = (char[]){"net_null0,no-rx=0"};
	check_refused(&config);
	sg->rphy_port.device = sg->control_port.device;
	check_refused(&config);
	sg->network.device = (char[]){"0000:3b:00.0"};
	sg->rphy_port.device = (char[]){"3b:00.0"};
	check_refused(&config);
	free_config(&config);
	config = load_config(2);
	/* the devices belong to two groups */
	config.groups[1].rphy_port.device = config.groups[0].network.device;
	check_refused(&config);
	free_config(&config);
}

/* Two groups with the same device share one port, which needs descriptors for its rings, too. */
TEST(device_of_two_groups_is_shared) {
	struct server_config config = load_config(GROUPS);

	config.groups[2].network.device = config.groups[0].network.device;
	config.groups[2].network.queue_size = 512;
	assert_int_equal(server_ports_find(&ports, &config), 0);
	assert_int_equal(ports.count, 2 * GROUPS - 1);
	assert_ptr_equal(port(0, DEVICE_NETWORK), port(2, DEVICE_NETWORK));
	assert_int_equal(port(0, DEVICE_NETWORK)->users, 2);
	assert_true(port(0, DEVICE_NETWORK)->shared);
	assert_false(port(1, DEVICE_NETWORK)->shared);
	assert_int_equal(server_ports_descriptors(&ports, DEVICE_NETWORK),
			 64 + 512 + 3 * server_share_ring(2));
	free_config(&config);
}

/* A port with a VLAN counts as shared, even with one group. */
TEST(number_of_devices_is_limited) {
	struct server_config config = load_config(PLATFORM_MAX_DEVICES / 2);

	config.groups[0].network.vlan = 7;
	assert_int_equal(server_ports_find(&ports, &config), 0);
	assert_int_equal(ports.count, PLATFORM_MAX_DEVICES);
	assert_true(port(0, DEVICE_NETWORK)->shared);
	assert_false(port(0, DEVICE_RPHY)->shared);
	free_config(&config);
	config = load_config(PLATFORM_MAX_DEVICES / 2 + 1);
	check_refused(&config);
	free_config(&config);
}

/* Adds the devices 0 to 3 except `missing`, or removes them. */
static void set_devices(bool add, unsigned missing) {
	char name[16];

	for (unsigned n = 0; n < 4; n++) {
		snprintf(name, sizeof(name), "net_null%u", n);
		if (!add)
			rte_eal_hotplug_remove("vdev", name);
		else if (n != missing)
			assert_int_equal(rte_eal_hotplug_add("vdev", name, "no-rx=1"), 0);
	}
}

TEST(failed_open_closes_all_ports) {
	const struct server_config config = load_config(2);
	struct rte_mempool *packets = fixture_pool_create("packets", 1023, FIXTURE_BUFFER_SIZE);
	struct rte_mempool *uepi = fixture_pool_create("uepi", 1023, FIXTURE_BUFFER_SIZE);

	for (unsigned missing = 3; missing <= 4; missing++) {
		set_devices(true, missing);
		assert_int_equal(server_ports_find(&ports, &config), 0);
		assert_int_equal(server_ports_open(&ports, packets, uepi), missing < 4 ? -1 : 0);
		if (missing == 4) {
			assert_int_equal(server_ports_start(&ports), 0);
			assert_int_equal(port(1, DEVICE_RPHY)->mtu, 1500);
		}
		server_ports_free(&ports);
		assert_int_equal(rte_eth_dev_count_avail(), 0);
		set_devices(false, 0);
	}
	fixture_pool_free(packets);
	fixture_pool_free(uepi);
	free_config(&config);
}

/* Ports that exist already, as in replays. A port of two groups gets the larger MTU. */
TEST(given_port_has_larger_mtu) {
	const struct server_config config = load_config(2);

	groups[1].rphy.mtu = 2000;
	assert_int_equal(rte_eal_hotplug_add("vdev", "net_null0", "no-rx=1"), 0);
	assert_int_equal(server_ports_find(&ports, &config), 0);
	for (unsigned g = 0; g < 2; g++)
		server_ports_set(&ports, g, DEVICE_RPHY, 0);
	assert_ptr_equal(port(0, DEVICE_RPHY), port(1, DEVICE_RPHY));
	assert_int_equal(port(0, DEVICE_RPHY)->mtu, 2000);
	rte_eal_hotplug_remove("vdev", "net_null0");
	free_config(&config);
}

TEST(optional_port_exists_if_configured) {
	for (size_t i = 0; i < 2; i++) {
		const struct server_config config = load_config(1);

		groups[0].control_port.device = i == 1 ? (char[]){"net_null9"} : NULL;
		server_ports_separate(&ports, &config);
		for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
			bool configured = device_port(&groups[0], role)->device != NULL;

			assert_int_equal(port(0, role) != NULL, configured);
		}
		assert_int_equal(ports.count, DEVICE_ROLES - 1 + i);
		free_config(&config);
	}
}

TEST(released_port_keeps_counters) {
	struct server_port port = {.open = true, .last = {.ipackets = 7}};
	struct rte_mempool *pool = fixture_pool_create("packets", 1023, FIXTURE_BUFFER_SIZE);
	struct rte_eth_stats stats;
	struct rte_mbuf *m;

	assert_int_equal(rte_eal_hotplug_add("vdev", "net_null0", ""), 0);
	assert_int_equal(port_open("net_null0", "test", pool, 64, 1500, &port.id), 0);
	assert_int_equal(port_start(port.id, "test"), 0);
	assert_int_equal(rte_eth_rx_burst(port.id, 0, &m, 1), 1);
	rte_pktmbuf_free(m);
	assert_true(server_port_stats(&port, &stats));
	assert_int_equal(stats.ipackets, 1);
	server_port_detach(&port);
	assert_int_equal(port.state, SERVER_PORT_GONE);
	for (unsigned open = 0; open < 2; open++) { /* no device any more */
		port.open = open;
		assert_true(server_port_stats(&port, &stats));
		assert_int_equal(stats.ipackets, 1);
	}
	rte_eal_hotplug_remove("vdev", "net_null0");
	fixture_pool_free(pool);
}

ALL_TESTS(fixture_start, fixture_stop)
