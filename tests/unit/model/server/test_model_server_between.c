/* SPDX-License-Identifier: BSD-3-Clause */
/* What two groups of a server must not have in common, each told with the other's place. */
#include "test_main.h"
#include "test_model_server.h"

/* A session of the upstream is one of any kind; our other address tells it apart, R-PHY's does not. */
TEST(upstream_sessions_of_every_kind) {
	static const char first[] =
		"upstream_channels: [{id: 1, type: ofdma, rate: 1 Gbps, session: 5,"
		" request_session: 6, ranging_session: 7}]";
	static const char *const kinds[] = {"session", "request_session", "ranging_session"};
	char text[2000], said[1000];

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
TEST(sessions_of_maps) {
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

TEST(devices_have_one_role_and_one_form) {
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
TEST(devices_instead_of_those_of_the_file) {
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
