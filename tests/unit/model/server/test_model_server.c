/* SPDX-License-Identifier: BSD-3-Clause */
/* The loader on server files that are right: what groups share, override, and have in files of their own. */
#include "model/devices.h"
#include "test_main.h"

#include "test_model_server.h"

TEST(one_group_is_a_server_of_one) {
	struct loaded_server loaded = load_good(
		CHANNELS("1") "\n" BONDING "\nmodems: [" MODEM("1") "]\n"
								    "threads: {main_core: 3}\n",
		NULL);

	assert_int_equal(loaded.config.group_count, 1);
	assert_string_equal(loaded.config.name, "server");
	assert_string_equal(loaded.config.groups[0].name, "server");
	assert_int_equal(loaded.config.groups[0].id, 1);
	assert_int_equal(loaded.config.main_core, 3);
	unload_server(&loaded);
}

TEST(what_stands_beside_the_list_is_for_all) {
	struct loaded_server loaded = load_good(
		"name: node7\n"
		"max_frame: 1600\n"
		"max_queued: 4096\n"
		"rate_limit: 2 Gbps\n" BONDING "\n"
		"service_groups:\n"
		"  - " GROUP(
			"1") "\n"
			     "  - " GROUP(
				     "2") "\n"
					  "  - {service_group: 7, name: other, rate_limit: none,\n"
					  "     max_queued: 256, " CHANNELS(
						  "3") ",\n     modems: [" MODEM("3") "]}\n",
		NULL);
	const struct service_group *groups = loaded.config.groups;

	assert_int_equal(loaded.config.group_count, 3);
	assert_string_equal(loaded.config.name, "node7");
	assert_string_equal(groups[0].name, "service-group-1");
	assert_string_equal(groups[2].name, "other");
	for (size_t g = 0; g < 3; g++) {
		assert_int_equal(groups[g].id, g < 2 ? g + 1 : 7);
		assert_int_equal(groups[g].max_frame, 1600);
		assert_int_equal(groups[g].max_queued, g < 2 ? 4096 : 256);
		assert_int_equal(groups[g].rate_limit, g < 2 ? 2000000000 : 0);
		assert_int_equal(groups[g].channels[0].session, 11 + g);
		assert_int_equal(groups[g].modems[0].mac[5], 1 + g);
		assert_int_equal(groups[g].modems[0].bonding_group, 0);
	}
	unload_server(&loaded);
}

/* They will be replaced one by one. */
TEST(each_group_has_its_own_memory) {
	struct loaded_server loaded =
		load_good(BONDING "\nservice_groups: [" GROUP("1") ", " GROUP("2") "]\n", NULL);
	struct service_group *groups = loaded.config.groups;

	assert_ptr_not_equal(groups[0].arena, groups[1].arena);
	assert_ptr_not_equal(groups[0].bonding_groups, groups[1].bonding_groups);
	service_group_free(&groups[0]);
	assert_string_equal(groups[1].name, "service-group-2");
	assert_int_equal(groups[1].bonding_groups[0].channels[0], 0);
	unload_server(&loaded);
}

TEST(some_maps_are_put_together_key_by_key) {
	struct loaded_server loaded = load_good(
		"ports:\n"
		"  network: {device: net_tap0, queue_size: 512}\n"
		"  rphy: {device: net_tap1, queue_size: 256, vlan: 9}\n"
		"  control: {device: net_tap2}\n"
		"threads: {upper_mac_core: 5, upstream_core: 6}\n"
		"rphy: {core_ip: 192.0.2.1, rpd_ip: 192.0.2.2, mtu: 2000}\n"
		"crypto: {provider: cryptodev, device: crypto_aesni_mb0}\n"
		"upstream: {verify_crc: true, held: 8 MB}\n" BONDING "\n"
		"service_groups:\n"
		"  - " GROUP("1") "\n"
				  "  - service_group: 2\n"
				  "    crypto: {device: crypto_aesni_mb1, generate_crc: false}\n"
				  "    ports: {network: {vlan: 12, mac: "
				  "\"02:00:00:00:00:99\"}, rphy: {vlan: 10},\n"
				  "            control: {queue_size: 512}}\n"
				  "    threads: {upper_mac_core: 7}\n"
				  "    rphy: {rpd_ip: 192.0.2.3, dscp: 1}\n"
				  "    upstream: {held: 5 MB}\n"
				  "    " CHANNELS("1") "\n"
						       "    modems: [" MODEM("1") "]\n",
		NULL);
	const struct service_group *one = &loaded.config.groups[0];
	const struct service_group *two = &loaded.config.groups[1];

	assert_string_equal(two->network.device, "net_tap0");
	assert_int_equal(two->network.queue_size, 512);
	assert_int_equal(one->network.vlan, 0);
	assert_int_equal(two->network.vlan, 12);
	assert_memory_equal(one->network.mac, ((uint8_t[6]){0}), 6);
	assert_int_equal(two->network.mac[5], 0x99);
	assert_int_equal(one->rphy_port.vlan, 9);
	assert_int_equal(two->rphy_port.vlan, 10);
	assert_int_equal(two->rphy_port.queue_size, 256);
	assert_string_equal(two->control_port.device, "net_tap2");
	assert_int_equal(two->control_port.queue_size, 512);
	assert_int_equal(one->threads.upper_mac_core, 5);
	assert_int_equal(two->threads.upper_mac_core, 7);
	assert_int_equal(two->threads.upstream_core, 6);
	assert_int_equal(two->rphy.core_ip.bytes[3], 1);
	assert_int_equal(one->rphy.rpd_ip.bytes[3], 2);
	assert_int_equal(two->rphy.rpd_ip.bytes[3], 3);
	assert_int_equal(two->rphy.mtu, 2000);
	assert_int_equal(two->rphy.dscp, 1);
	assert_int_equal(two->rphy.ttl, 64);
	assert_true(two->upstream.verify_crc);
	assert_int_equal(two->upstream.held, 5000000);
	assert_string_equal(one->crypto.device, "crypto_aesni_mb0");
	assert_true(one->crypto.generate_crc);
	assert_int_equal(two->crypto.provider, CRYPTO_CRYPTODEV);
	assert_string_equal(two->crypto.device, "crypto_aesni_mb1");
	assert_false(two->crypto.generate_crc);
	unload_server(&loaded);
}

/* A group of a server whose crypto is a device's may have the library, where there is one. */
TEST(a_group_has_no_device_of_its_server) {
	struct loaded_server loaded;

	if (!crypto_has_library())
		skip();
	loaded = load_good(
		"crypto: {provider: cryptodev, device: crypto_aesni_mb0}\n" BONDING "\n"
		"service_groups:\n"
		"  - {service_group: 2, crypto: {provider: ipsec-mb, device: none}, " CHANNELS(
			"1") ", modems: [" MODEM("1") "]}\n",
		NULL);
	assert_int_equal(loaded.config.groups[0].crypto.provider, CRYPTO_IPSEC_MB);
	assert_null(loaded.config.groups[0].crypto.device);
	unload_server(&loaded);
	expect_of_server("crypto: {provider: cryptodev, device: crypto_aesni_mb0}\n" BONDING "\n"
			 "service_groups:\n"
			 "  - {service_group: 2, crypto: {provider: ipsec-mb}, " CHANNELS(
				 "1") ", modems: [" MODEM("1") "]}\n",
			 NULL, 1,
			 "dir/server.yaml:1: crypto.device: found "
			 "\"crypto_aesni_mb0\", allowed: none without provider: cryptodev\n");
}

/* As some editors begin a file; one that stands anywhere else is text. */
TEST(byte_order_marks) {
	struct memory_file files[] = {
		{"dir/two.yaml", "\xef\xbb\xbf" CHANNELS("2") "\nmodems: [" MODEM("2") "]\n"},
		{0},
	};
	struct loaded_server loaded =
		load_good("\xef\xbb\xbf" BONDING "\n"
			  "rphy: {mtu: 2000}\n"
			  "service_groups:\n"
			  "  - " GROUP("1") "\n"
					    "  - {file: two.yaml, service_group: 2}\n",
			  files);

	assert_int_equal(loaded.config.groups[1].rphy.mtu, 2000);
	unload_server(&loaded);
}

/* Beside the list, in the group's file, in the list: what is nearer goes before. */
TEST(a_group_has_a_file_of_its_own) {
	struct memory_file files[] = {
		{"dir/two.yaml",
		 "max_frame: 1700\nrphy: {mtu: 3000, ttl: 3}\nservice_group: 9\n" CHANNELS(
			 "2") "\nmodems: [" MODEM("2") "]\n"},
		{"/etc/three.v1.yaml",
		 "name: third\n" CHANNELS("3") "\n" BONDING "\n"
					       "modems: [" MODEM("3") "]\nservice_group: 3\n"},
		{0},
	};
	struct loaded_server loaded = load_good(
		"max_frame: 1600\n"
		"rphy: {mtu: 2000, ttl: 2, dscp: 2}\n" BONDING "\n"
		"service_groups:\n"
		"  - " GROUP("1") "\n"
				  "  - {file: two.yaml, service_group: 2, rphy: {ttl: 4}}\n"
				  "  - {file: /etc/three.v1.yaml, max_frame: 1800}\n",
		files);
	const struct service_group *groups = loaded.config.groups;

	assert_int_equal(groups[0].max_frame, 1600);
	assert_int_equal(groups[1].max_frame, 1700);
	assert_int_equal(groups[2].max_frame, 1800);
	assert_int_equal(groups[1].id, 2);
	assert_string_equal(groups[1].name, "two");
	assert_string_equal(groups[2].name, "third");
	assert_int_equal(groups[1].rphy.mtu, 3000);
	assert_int_equal(groups[1].rphy.ttl, 4);
	assert_int_equal(groups[1].rphy.dscp, 2);
	unload_server(&loaded);
}

/* An anchor of the server's file holds in it, also over groups. */
TEST(anchors_go_over_groups) {
	struct loaded_server loaded = load_good(
		BONDING
		"\nservice_groups:\n"
		"  - {service_group: 1, channels: &c [{id: 1, type: ofdm, rate: 1 Gbps,"
		" session: 3}], modems: [" MODEM(
			"1") "]}\n"
			     "  - {service_group: 2, channels: *c, rphy: {rpd_ip: 192.168.1.9},"
			     " modems: [" MODEM("2") "]}\n",
		NULL);

	assert_int_equal(loaded.config.groups[1].channels[0].session, 3);
	unload_server(&loaded);
}

/* The same sessions and addresses are good where something else tells groups apart. */
TEST(groups_are_told_apart) {
	static const char *const ways[] = {
		"ports: {network: {device: a}, rphy: {device: b}}",
		"ports: {network: {vlan: 5}, rphy: {vlan: 5}}",
		"ports: {network: {mac: \"02:00:00:00:00:05\"}, rphy: {vlan: 5}}",
		"ports: {network: {vlan: 5}}, rphy: {core_mac: \"02:00:00:00:00:05\", "
		"rpd_ip: 192.168.1.5}",
		"ports: {network: {vlan: 5}}, rphy: {core_mac: \"02:00:00:00:00:05\", "
		"rpd_mac: \"02:00:00:00:00:06\"}",
	};

	for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
		char text[2000];
		struct loaded_server loaded;

		snprintf(text, sizeof(text),
			 BONDING "\n" CHANNELS("1") "\nmodems: [" MODEM(
				 "1") "]\n"
				      "upstream_channels: [{id: 1, type: ofdma, rate: 1 Gbps, "
				      "session: 5,"
				      " request_session: 6, ranging_session: 7}]\n"
				      "service_groups: [{service_group: 1}, {service_group: 2, "
				      "%s}]\n",
			 ways[i]);
		loaded = load_good(text, NULL);
		assert_int_equal(loaded.config.group_count, 2);
		unload_server(&loaded);
	}
}

TEST(the_main_core_is_the_servers) {
	struct loaded_server loaded = load_good(
		BONDING
		"\nservice_groups:\n"
		"  - " GROUP("1") "\n"
				  "  - {service_group: 2, " CHANNELS("2") ", modems: [" MODEM(
					  "2") "], threads: {main_core: 4}}\n",
		NULL);

	assert_int_equal(loaded.config.main_core, 4);
	assert_int_equal(loaded.config.groups[0].threads.main_core, 4);
	unload_server(&loaded);
}

/* As many as the list has, where the file does not have it; more where it does. */
TEST(room_for_groups) {
	struct loaded_server loaded =
		load_good(BONDING "\nservice_groups: [" GROUP("1") ", " GROUP("2") "]\n", NULL);

	assert_int_equal(server_config_most(&loaded.config), 2);
	unload_server(&loaded);
	loaded = load_good(BONDING "\nmax_groups: 64\nservice_groups: [" GROUP("1") "]\n", NULL);
	assert_int_equal(loaded.config.group_count, 1);
	assert_int_equal(server_config_most(&loaded.config), 64);
	unload_server(&loaded);
}

/* Whether a file says what may wait upstream is known, as groups divide what is not said. */
TEST(held_is_given_or_not) {
	struct loaded_server loaded =
		load_good(BONDING "\nservice_groups:\n  - " GROUP(
				  "1") "\n"
				       "  - {service_group: 2, " CHANNELS("2") ", modems: [" MODEM(
					       "2") "],"
						    " upstream: {held: 4 MB}}\n",
			  NULL);

	assert_false(loaded.config.groups[0].upstream.held_given);
	assert_true(loaded.config.groups[1].upstream.held_given);
	assert_int_equal(loaded.config.groups[0].upstream.held, 4000000);
	unload_server(&loaded);
}

TEST(most_groups) {
	static char text[SERVER_MAX_GROUPS * 400];
	size_t used = (size_t)snprintf(text, sizeof(text), BONDING "\nservice_groups:\n");
	struct loaded_server loaded;

	for (unsigned g = 0; g < SERVER_MAX_GROUPS; g++)
		used += (size_t)snprintf(
			text + used, sizeof(text) - used,
			"  - {service_group: %u, channels: [{id: 1, type: ofdm, rate: 1 Gbps,"
			" session: %u}], modems: [{mac: \"02:01:00:00:00:%02x\", addresses:"
			" [10.0.0.%u], bonding_group: 1, security: {said: 1, cipher: none},"
			" service_flows: [{id: 1}]}]}\n",
			g + 1, g + 1, g + 1, g + 1);
	loaded = load_good(text, NULL);
	assert_int_equal(loaded.config.group_count, SERVER_MAX_GROUPS);
	assert_int_equal(loaded.config.groups[63].channels[0].session, 64);
	unload_server(&loaded);
}
