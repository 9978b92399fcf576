/* SPDX-License-Identifier: BSD-3-Clause */
/* What two groups of a server must not have in common, each told with the other's place. */
#include "test_model_server.h"

static void ids_are_unique(void **state) {
	struct memory_file files[] = {
		{"dir/a.yaml", CHANNELS("3") "\nservice_group: 2\nmodems: [" MODEM("3") "]\n"},
		{0},
	};

	(void)state;
	expect_of_server(BONDING "\nservice_groups:\n"
				 "  - " GROUP("2") "\n"
						   "  - {file: a.yaml}\n",
			 files, 1,
			 "dir/a.yaml:2: service_group: found 2 again, allowed: a number of its own "
			 "(first at dir/server.yaml:3)\n");
	expect_of_server(
		BONDING "\nservice_groups:\n"
			"  - " GROUP("1") "\n"
					  "  - {" CHANNELS("2") ", modems: [" MODEM("2") "]}\n",
		NULL, 1,
		"dir/server.yaml:4: service_groups[1].service_group: found 1 again, allowed: a "
		"number of its own (first on line 3)\n");
}

static void what_a_port_cannot_tell_apart(void **state) {
	(void)state;
	expect_of_server(
		BONDING
		"\nservice_groups:\n"
		"  - " GROUP("1") "\n"
				  "  - {service_group: 2, " CHANNELS(
					  "1") ",\n"
					       "     modems: [{mac: \"02:01:00:00:00:01\",\n"
					       "     addresses: [10.0.0.9,\n"
					       "     10.0.0.1,\n"
					       "     \"2001:db8::1\"], bonding_group: 1,\n"
					       "     security: {said: 1, cipher: none}, "
					       "service_flows: [{id: 1}]}]}\n",
		NULL, 4,
		"dir/server.yaml:4: service_groups[1].channels[0].session: found 0x0000000b again "
		"in "
		"service group 2, allowed: it in one group of the port net_memif1, or another "
		"vlan, "
		"rpd_mac or rpd_ip (first in service group 1 on line 3)\n"
		"dir/server.yaml:5: service_groups[1].modems[0].mac: found 02:01:00:00:00:01 again "
		"in "
		"service group 2, allowed: it in one group of the port net_memif0, or another vlan "
		"or "
		"mac (first in service group 1 on line 3)\n"
		"dir/server.yaml:7: service_groups[1].modems[0].addresses[1]: found 10.0.0.1 again "
		"in "
		"service group 2, allowed: it in one group of the port net_memif0, or another vlan "
		"or "
		"mac (first in service group 1 on line 3)\n"
		"dir/server.yaml:8: service_groups[1].modems[0].addresses[2]: found 2001:db8::1 "
		"again in "
		"service group 2, allowed: it in one group of the port net_memif0, or another vlan "
		"or "
		"mac (first in service group 1 on line 3)\n");
}

/* A session of the upstream is one of any kind; our other address tells it apart, R-PHY's does not. */
static void upstream_sessions_of_every_kind(void **state) {
	static const char first[] =
		"upstream_channels: [{id: 1, type: ofdma, rate: 1 Gbps, session: 5,"
		" request_session: 6, ranging_session: 7}]";
	static const char *const kinds[] = {"session", "request_session", "ranging_session"};
	char text[2000], said[1000];

	(void)state;
	for (size_t kind = 0; kind < 9; kind++) {
		const char *name = kinds[kind / 3];
		size_t session = 5 + kind % 3;

		snprintf(text, sizeof(text),
			 BONDING
			 "\nservice_groups:\n"
			 "  - {service_group: 1, " CHANNELS("1") ", modems: [" MODEM(
				 "1") "], %s}\n"
				      "  - {service_group: 2, " CHANNELS("2") ", modems: [" MODEM(
					      "2") "], rphy: {rpd_ip: 10.1.1.1},\n"
						   "     upstream_channels: [{id: 1, type: ofdma, "
						   "rate: 1 Gbps, %s"
						   "%s: %zu}]}\n",
			 first, kind < 3 ? "" : "session: 99, ", name, session);
		snprintf(
			said, sizeof(said),
			"dir/server.yaml:5: service_groups[1].upstream_channels[0].%s: found "
			"0x%08zx again in service group 2, allowed: it in one group of the port "
			"net_memif1, or another vlan or core_mac (first in service group 1 on line "
			"3)\n",
			name, session);
		expect_of_server(text, NULL, 1, said);
	}
}

#define SCHEDULED(n, channel, more)                                                     \
	"  - {service_group: " n ", " CHANNELS(n) ", modems: [" MODEM(                  \
		n) "],\n"                                                               \
		   "     upstream: {scheduler: {}}, rphy: {core_mac: \"02:00:00:00:0" n \
		   ":01\"},\n"                                                          \
		   "     upstream_channels: [{" channel                                 \
		   ", type: ofdma, rate: 1 Gbps, session: 5" more "}]}\n"

/* MAPs go to the R-PHY device, as downstream channels do: by default each group has the same sessions for them. */
static void sessions_of_maps(void **state) {
	static const struct {
		const char *second, *said;
	} cases[] = {
		{SCHEDULED("2", "id: 1", ""),
		 "upstream_channels[0].id: found 0x00030001 again in service group 2, allowed: it "
		 "in one group of the port net_memif1, or another vlan, rpd_mac or rpd_ip (first "
		 "in "
		 "service group 1 on line 5)"},
		{SCHEDULED("2", "id: 2", ", map_session: 0x30001"),
		 "upstream_channels[0].map_session: found 0x00030001 again in service group 2, "
		 "allowed: it in one group of the port net_memif1, or another vlan, rpd_mac or "
		 "rpd_ip (first in service group 1 on line 5)"},
		{SCHEDULED("2", "id: 2", ", map_session: 11"),
		 "upstream_channels[0].map_session: found 0x0000000b again in service group 2, "
		 "allowed: it in one group of the port net_memif1, or another vlan, rpd_mac or "
		 "rpd_ip (first in service group 1 on line 3)"},
		{SCHEDULED("2", "id: 1", ", map_session: 0x30002"), NULL},
		{SCHEDULED("2", "id: 2", ""), NULL},
	};
	char text[2000], said[1000];

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		snprintf(text, sizeof(text), BONDING "\nservice_groups:\n%s%s",
			 SCHEDULED("1", "id: 1", ""), cases[i].second);
		snprintf(said, sizeof(said), "dir/server.yaml:8: service_groups[1].%s\n",
			 cases[i].said);
		expect_of_server(text, NULL, cases[i].said != NULL,
				 cases[i].said != NULL ? said : "");
	}
	/* another R-PHY device on the same port */
	snprintf(text, sizeof(text), BONDING "\nservice_groups:\n%s%s", SCHEDULED("1", "id: 1", ""),
		 "  - {service_group: 2, " CHANNELS("1") ", modems: [" MODEM(
			 "2") "],\n"
			      "     upstream: {scheduler: {}}, rphy: {core_mac: "
			      "\"02:00:00:00:02:01\", "
			      "rpd_ip: 10.9.9.9},\n"
			      "     upstream_channels: [{id: 1, type: ofdma, rate: 1 Gbps, "
			      "session: 5}]}\n");
	expect_of_server(text, NULL, 0, "");
}

static void devices_have_one_role_and_one_form(void **state) {
	static const struct {
		const char *ports, *said;
	} cases[] = {
		{"rphy: {device: \"net_memif0,x=1\"}, network: {device: b}",
		 "rphy.device: found \"net_memif0,x=1\", allowed: another device than "
		 "ports.network "
		 "of service group 1 (on line 3)"},
		{"control: {device: net_memif1}",
		 "control.device: found \"net_memif1\", allowed: another device than ports.rphy"},
		{"network: {device: \"net_memif0,role=client\"}",
		 "network.device: found \"net_memif0,role=client\", allowed: "
		 "\"net_memif0,role=server,id=0,socket-abstract=no,socket=/run/v...\", as service "
		 "group 1 has it"},
		{"rphy: {queue_size: 512}",
		 "rphy.queue_size: found 512, allowed: 4096, as service group 1 has it on this "
		 "device"},
	};
	char text[2000], said[1000];

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		snprintf(
			text, sizeof(text),
			BONDING
			"\nservice_groups:\n"
			"  - " GROUP("1") "\n"
					  "  - {service_group: 2, " CHANNELS(
						  "2") ", modems: [" MODEM("2") "], ports: {%s}}\n",
			cases[i].ports);
		snprintf(said, sizeof(said), "dir/server.yaml:4: service_groups[1].ports.%s\n",
			 cases[i].said);
		expect_of_server(text, NULL, 1, said);
	}
	/* a PCI address may come without its domain */
	expect_of_server(
		BONDING "\nservice_groups:\n"
			"  - {service_group: 1, " CHANNELS("1") ", modems: [" MODEM(
				"1") "], ports: {network: {device: \"0000:3b:00.0\"}}}\n"
				     "  - {service_group: 2, " CHANNELS("2") ", modems: [" MODEM(
					     "2") "], ports: {rphy: {device: \"3b:00.0\"}}}\n",
		NULL, 1,
		"dir/server.yaml:4: service_groups[1].ports.rphy.device: found \"3b:00.0\", "
		"allowed: another device than ports.network of service group 1 (on line 3)\n");
}

/* What ports of their own tell apart in the file is not told apart on one port for all. */
static void devices_instead_of_those_of_the_file(void **state) {
	static const char text[] =
		BONDING "\nservice_groups:\n"
			"  - {service_group: 1, " CHANNELS("1") ", modems: [" MODEM(
				"1") "]}\n"
				     "  - {service_group: 2, ports: {network: {device: a}, rphy: "
				     "{device: b},\n"
				     "     control: {device: c}},\n"
				     "     " CHANNELS("1") ", modems: [" MODEM("2") "]}\n";
	const struct server_devices network = {.network = "net_null0,x=1", .control = "net_null9"};
	const struct server_devices rphy = {.rphy = "net_null1"};
	struct loaded_server loaded = load_server_on(text, NULL, &network);

	(void)state;
	assert_string_equal(loaded.said, "");
	for (size_t g = 0; g < 2; g++) {
		assert_string_equal(loaded.config.groups[g].network.device, "net_null0,x=1");
		assert_string_equal(loaded.config.groups[g].control_port.device, "net_null9");
	}
	assert_string_equal(loaded.config.groups[1].rphy_port.device, "b");
	unload_server(&loaded);
	loaded = load_server_on(text, NULL, &rphy);
	assert_string_equal(loaded.said,
			    "dir/server.yaml:6: service_groups[1].channels[0].session: found "
			    "0x0000000b again in service group 2, allowed: it in one group of the "
			    "port net_null1, or another vlan, rpd_mac or rpd_ip (first in service "
			    "group 1 on line 3)\n");
	unload_server(&loaded);
	loaded = load_server_on(BONDING "\n" CHANNELS("1") "\nmodems: [" MODEM("1") "]\n", NULL,
				&rphy);
	assert_string_equal(loaded.config.groups[0].rphy_port.device, "net_null1");
	unload_server(&loaded);
}

static void one_main_core(void **state) {
	(void)state;
	expect_of_server(
		BONDING
		"\nthreads: {main_core: 1}\nservice_groups:\n"
		"  - " GROUP("1") "\n"
				  "  - {service_group: 2, " CHANNELS("2") ", modems: [" MODEM(
					  "2") "],\n     threads: {main_core: 2}}\n",
		NULL, 1,
		"dir/server.yaml:6: service_groups[1].threads.main_core: found 2, allowed: 1, "
		"the server's main core (on line 2)\n");
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ids_are_unique),
		cmocka_unit_test(what_a_port_cannot_tell_apart),
		cmocka_unit_test(upstream_sessions_of_every_kind),
		cmocka_unit_test(sessions_of_maps),
		cmocka_unit_test(devices_have_one_role_and_one_form),
		cmocka_unit_test(devices_instead_of_those_of_the_file),
		cmocka_unit_test(one_main_core),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
