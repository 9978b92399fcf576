/* SPDX-License-Identifier: BSD-3-Clause */
/* Which devices a server has, and that what is opened is closed. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include <rte_dev.h>
#include <rte_ethdev.h>

#include "model/loader.h"
#include "server/server.h"

#include "fixture.h"
#include "packets.h"

#define GROUPS 3

static struct service_group groups[SERVER_MAX_GROUPS];
static struct server_ports ports;

static const char text[] = "service_group: %u\n"
			   "channels: [{id: 1, type: ofdm, rate: 1 Gbps, session: 0x10001}]\n"
			   "bonding_groups: [{id: 1, channels: [1]}]\n"
			   "modems:\n"
			   "  - mac: '02:01:00:00:00:01'\n"
			   "    addresses: [10.0.0.1]\n"
			   "    bonding_group: 1\n"
			   "    security: {said: 1, cipher: none}\n"
			   "    service_flows: [{id: 1}]\n"
			   "ports: {network: {device: 'net_null%u,no-rx=1', queue_size: 64},\n"
			   "        rphy: {device: 'net_null%u,no-rx=1', queue_size: 128}%s}\n";

static struct server_config config_of(size_t count, const char *control) {
	for (unsigned g = 0; g < count; g++) {
		char filled[2048];

		snprintf(filled, sizeof(filled), text, g + 1, 2 * g, 2 * g + 1, control);
		group_load(&groups[g], filled);
	}
	return (struct server_config){.groups = groups, .group_count = count};
}

static void end(const struct server_config *config) {
	server_ports_free(&ports);
	for (size_t g = 0; g < config->group_count; g++)
		service_group_free(&config->groups[g]);
}

static void those_of_the_configuration(void **state) {
	const struct server_config config = config_of(GROUPS, "");
	const struct server_devices none = {0};
	const char *devices[PLATFORM_MAX_DEVICES];

	(void)state;
	assert_int_equal(server_ports_find(&ports, &config, &none), 0);
	assert_int_equal(server_ports_devices(&ports, devices), 2 * GROUPS);
	assert_string_equal(devices[0], "net_null0,no-rx=1");
	assert_string_equal(devices[5], "net_null5,no-rx=1");
	assert_int_equal(server_ports_descriptors(&ports, PORT_NETWORK), 64 * GROUPS);
	assert_int_equal(server_ports_descriptors(&ports, PORT_RPHY), 128 * GROUPS);
	assert_int_equal(server_ports_descriptors(&ports, PORT_CONTROL), 0);
	assert_ptr_equal(server_port_of(&ports, 2, PORT_RPHY)->device, devices[5]);
	assert_null(server_port_of(&ports, 2, PORT_CONTROL));
	end(&config);
}

/* "{group}" is the place of the group where there are several; all of a text is kept where there is one. */
static void those_of_the_command_line(void **state) {
	const struct server_devices devices = {
		.texts = {"net_memif{group},id={group},socket=/run/{group}/n", "net_ring{group}",
			  "net_tap{group}"}};
	struct server_config config = config_of(GROUPS, "");

	(void)state;
	assert_int_equal(server_ports_find(&ports, &config, &devices), 0);
	assert_int_equal(ports.count, 3 * GROUPS);
	assert_string_equal(server_port_of(&ports, 0, PORT_NETWORK)->device,
			    "net_memif0,id=0,socket=/run/0/n");
	assert_string_equal(server_port_of(&ports, 2, PORT_NETWORK)->device,
			    "net_memif2,id=2,socket=/run/2/n");
	assert_string_equal(server_port_of(&ports, 2, PORT_RPHY)->device, "net_ring2");
	assert_string_equal(server_port_of(&ports, 1, PORT_CONTROL)->device, "net_tap1");
	end(&config);
	config = config_of(1, "");
	assert_int_equal(server_ports_find(&ports, &config, &devices), 0);
	assert_string_equal(server_port_of(&ports, 0, PORT_RPHY)->device, "net_ring{group}");
	end(&config);
}

static void refused(const struct server_config *config, struct server_devices devices) {
	assert_int_equal(server_ports_find(&ports, config, &devices), -1);
	server_ports_free(&ports);
}

static void one_device_for_two_ports(void **state) {
	struct server_config config = config_of(1, ", control: {device: net_tap0}");

	(void)state;
	refused(&config, (struct server_devices){.texts = {"net_a", "net_a,arguments=1", NULL}});
	refused(&config, (struct server_devices){.texts = {"net_a", "net_b", "net_b"}});
	refused(&config, (struct server_devices){.texts = {"net_tap0", NULL, NULL}});
	refused(&config, (struct server_devices){.texts = {"0000:3b:00.0", "3b:00.0", NULL}});
	end(&config);
	config = config_of(2, "");
	/* of two groups */
	refused(&config, (struct server_devices){.texts = {NULL, "net_null0", NULL}});
	refused(&config, (struct server_devices){.texts = {NULL, "net_null{group}", NULL}});
	refused(&config, (struct server_devices){.texts = {"net_shared", NULL, NULL}});
	end(&config);
}

static void more_devices_than_ports(void **state) {
	struct server_config config = config_of(PLATFORM_MAX_DEVICES / 2, "");
	const struct server_devices none = {0};

	(void)state;
	assert_int_equal(server_ports_find(&ports, &config, &none), 0);
	assert_int_equal(ports.count, PLATFORM_MAX_DEVICES);
	end(&config);
	config = config_of(PLATFORM_MAX_DEVICES / 2 + 1, "");
	refused(&config, none);
	end(&config);
}

/* Opened, given to groups, started, closed; where one cannot be opened those before it are closed. */
static void open_and_close(void **state) {
	const struct server_config config = config_of(2, "");
	const struct server_devices none = {0};
	struct rte_mempool *packets = fixture_pool("packets", 1023, FIXTURE_ROOM);
	struct rte_mempool *uepi = fixture_pool("uepi", 1023, FIXTURE_ROOM);

	(void)state;
	for (int missing = 3; missing <= 4; missing++) {
		for (int n = 0; n < 4; n++) {
			char name[16];

			snprintf(name, sizeof(name), "net_null%d", n);
			if (n != missing)
				assert_int_equal(rte_eal_hotplug_add("vdev", name, "no-rx=1"), 0);
		}
		assert_int_equal(server_ports_find(&ports, &config, &none), 0);
		assert_int_equal(server_ports_open(&ports, packets, uepi), missing < 4 ? -1 : 0);
		if (missing == 4) {
			assert_int_equal(server_ports_start(&ports), 0);
			assert_int_equal(server_port_of(&ports, 1, PORT_RPHY)->mtu, 1500);
		}
		server_ports_free(&ports);
		assert_int_equal(rte_eth_dev_count_avail(), 0);
		for (int n = 0; n < 4; n++) {
			char name[16];

			snprintf(name, sizeof(name), "net_null%d", n);
			rte_eal_hotplug_remove("vdev", name);
		}
	}
	fixture_pool_end(packets);
	fixture_pool_end(uepi);
	end(&config);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(those_of_the_configuration),
		cmocka_unit_test(those_of_the_command_line),
		cmocka_unit_test(one_device_for_two_ports),
		cmocka_unit_test(more_devices_than_ports),
		cmocka_unit_test(open_and_close),
	};

	return cmocka_run_group_tests(tests, fixture_start, fixture_stop);
}
