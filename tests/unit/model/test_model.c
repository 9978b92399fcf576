/* SPDX-License-Identifier: BSD-3-Clause */
/* The loader on files that are right: every field, every default, every reference. */
#include "test_model.h"
#include "test_main.h"

static const char full[] =
	"name: full\n"
	"service_group: 12\n"
	"ports:\n"
	"  network: {device: \"0000:3b:00.0\", queue_size: 512}\n"
	"  rphy: {device: \"net_tap1,iface=rphy\", queue_size: 1024}\n"
	"max_frame: 1.6 kB\n"
	"threads: {downstream: 1ds2t, main_core: 2, upper_mac_core: 3, lower_mac_core: 4}\n"
	"rphy: {core_mac: \"02:00:00:00:00:11\", rpd_mac: \"02:00:00:00:00:12\",\n"
	"  core_ip: \"2001:db8::11\", rpd_ip: \"2001:db8::12\", mtu: 2 kB, dscp: 46, ttl: 9,\n"
	"  flush: 20 us, max_segments: 5}\n"
	"rate_limit: 1.5 Gbps\n"
	"cpe_timeout: 20 ms\n"
	"filter_default: deny\n"
	"channels:\n"
	"  - {id: 30, type: ofdm, rate: 1.89 Gbps, session: 0x00010001, profile: 3}\n"
	"  - {id: 20, type: sc-qam, rate: 42.24 Mbps, session: 0xffffffff,\n"
	"     pseudowire: psp-legacy}\n"
	"  - {id: 10, type: sc-qam, rate: 42.24 Mbps, session: 3, psp_extra: static}\n"
	"bonding_groups:\n"
	"  - {id: 5, channels: [10, 30]}\n"
	"  - {id: 65535, channels: [20]}\n"
	"filter_groups:\n"
	"  - id: 8\n"
	"    rules:\n"
	"      - {family: ipv4, action: deny, source: 198.51.100.0/24, protocol: tcp,\n"
	"         destination_ports: 135-139, source_ports: 80}\n"
	"      - {family: ipv6, action: permit, destination: \"2001:db8:1::/48\", protocol: 58,\n"
	"         tos: 0xb8/0xfc}\n"
	"  - id: 9\n"
	"    rules: [{family: llc, action: deny, ethertype: 0x86dd}]\n"
	"modems:\n"
	"  - mac: \"02:01:00:00:00:01\"\n"
	"    addresses: [10.0.0.1, \"2001:db8:0:1::1\"]\n"
	"    cpe_limit: 0\n"
	"    cpe_limit_ipv6: 3\n"
	"    filter_groups: [9, 8]\n"
	"    bonding_group: 5\n"
	"    security: {said: 0x3fff, key: 00010203040506070809101112131415,\n"
	"      iv: 101112131415161718191a1b1c1d1e1F, key_sequence: 15}\n"
	"    service_flows:\n"
	"      - {id: 0xffffffff, dsid: 0xfffff, priority: 7, buffer: 1 MiB}\n"
	"      - {id: 2, state: provisioned}\n"
	"      - {id: 3, dsid: 1}\n"
	"    classifiers:\n"
	"      - {family: ipv4, destination_ports: 5004, service_flow: 3}\n"
	"      - {family: llc, ethertype: 2048, service_flow: 4294967295}\n"
	"  - mac: \"02:01:00:00:00:02\"\n"
	"    addresses: [10.0.0.2]\n"
	"    bonding_group: 65535\n"
	"    security: {said: 2, cipher: none}\n"
	"    service_flows: [{id: 4}]\n";

static int load_full(void **state) {
	static struct loaded loaded;

	loaded = load_text(full);
	*state = &loaded;
	if (loaded.mistakes > 0)
		print_error("%s", loaded.said);
	return loaded.mistakes;
}

static int unload_full(void **state) {
	unload(*state);
	return 0;
}

static const struct service_group *group(void **state) {
	const struct loaded *loaded = *state;

	return &loaded->sg;
}

TEST(top_of_the_file) {
	const struct service_group *sg = group(state);

	assert_string_equal(sg->name, "full");
	assert_int_equal(sg->id, 12);
	assert_string_equal(sg->network.device, "0000:3b:00.0");
	assert_int_equal(sg->network.queue_size, 512);
	assert_string_equal(sg->rphy_port.device, "net_tap1,iface=rphy");
	assert_int_equal(sg->rphy_port.queue_size, 1024);
	assert_int_equal(sg->max_frame, 1600);
	assert_int_equal(sg->threads.downstream, LAYOUT_1DS2T);
	assert_int_equal(sg->threads.main_core, 2);
	assert_int_equal(sg->threads.upper_mac_core, 3);
	assert_int_equal(sg->threads.lower_mac_core, 4);
	assert_int_equal(sg->rate_limit, 1500000000);
	assert_int_equal(sg->cpe_timeout_ns, 20000000);
	assert_int_equal(sg->filter_default, FILTER_DENY);
}

TEST(path_to_the_rphy_device) {
	const struct rphy_config *rphy = &group(state)->rphy;

	assert_memory_equal(rphy->core_mac, ((uint8_t[]){2, 0, 0, 0, 0, 0x11}), 6);
	assert_memory_equal(rphy->rpd_mac, ((uint8_t[]){2, 0, 0, 0, 0, 0x12}), 6);
	assert_int_equal(rphy->core_ip.family, 6);
	assert_int_equal(rphy->core_ip.bytes[15], 0x11);
	assert_int_equal(rphy->rpd_ip.bytes[15], 0x12);
	assert_int_equal(rphy->mtu, 2000);
	assert_int_equal(rphy->dscp, 46);
	assert_int_equal(rphy->ttl, 9);
	assert_int_equal(rphy->flush_ns, 20000);
	assert_int_equal(rphy->max_segments, 5);
}

TEST(channels_and_groups) {
	const struct service_group *sg = group(state);
	const struct channel *channel = sg->channels;

	assert_int_equal(sg->channel_count, 3);
	assert_int_equal(channel[0].id, 30);
	assert_int_equal(channel[0].type, CHANNEL_OFDM);
	assert_int_equal(channel[0].rate, 1890000000);
	assert_int_equal(channel[0].session, 0x10001);
	assert_int_equal(channel[0].pseudowire, PSEUDOWIRE_PSP_DEPI);
	assert_int_equal(channel[0].psp_extra, PSP_EXTRA_COUNTER);
	assert_int_equal(channel[0].profile, 3);
	assert_int_equal(channel[1].type, CHANNEL_SC_QAM);
	assert_int_equal(channel[1].session, 0xffffffff);
	assert_int_equal(channel[1].pseudowire, PSEUDOWIRE_PSP_LEGACY);
	assert_int_equal(channel[1].psp_extra, PSP_EXTRA_NONE);
	assert_int_equal(channel[2].psp_extra, PSP_EXTRA_STATIC);
	assert_int_equal(sg->bonding_group_count, 2);
	assert_int_equal(sg->bonding_groups[0].id, 5);
	assert_int_equal(sg->bonding_groups[0].channel_count, 2);
	assert_int_equal(sg->bonding_groups[0].channels[0], 2);
	assert_int_equal(sg->bonding_groups[0].channels[1], 0);
	assert_int_equal(sg->bonding_groups[1].channels[0], 1);
}

TEST(filter_rules) {
	const struct service_group *sg = group(state);
	const struct match *match = &sg->filter_groups[0].rules[0].match;

	assert_int_equal(sg->filter_group_count, 2);
	assert_int_equal(sg->filter_groups[0].id, 8);
	assert_int_equal(sg->filter_groups[0].rule_count, 2);
	assert_int_equal(sg->filter_groups[0].rules[0].action, FILTER_DENY);
	assert_int_equal(match->family, RULE_IPV4);
	assert_int_equal(match->source.length, 24);
	assert_memory_equal(match->source.address.bytes, ((uint8_t[]){198, 51, 100, 0}), 4);
	assert_int_equal(match->destination.address.family, 4);
	assert_int_equal(match->destination.length, 0);
	assert_true(match->has_protocol);
	assert_int_equal(match->protocol, 6);
	assert_int_equal(match->tos_mask, 0);
	assert_int_equal(match->source_ports.low, 80);
	assert_int_equal(match->source_ports.high, 80);
	assert_int_equal(match->destination_ports.low, 135);
	assert_int_equal(match->destination_ports.high, 139);
	assert_false(match->has_ethertype);
	match = &sg->filter_groups[0].rules[1].match;
	assert_int_equal(match->family, RULE_IPV6);
	assert_int_equal(match->source.address.family, 6);
	assert_int_equal(match->destination.length, 48);
	assert_int_equal(match->protocol, 58);
	assert_int_equal(match->tos, 0xb8);
	assert_int_equal(match->tos_mask, 0xfc);
	assert_int_equal(match->destination_ports.low, 0);
	assert_int_equal(match->destination_ports.high, 65535);
	match = &sg->filter_groups[1].rules[0].match;
	assert_int_equal(match->family, RULE_LLC);
	assert_true(match->has_ethertype);
	assert_int_equal(match->ethertype, 0x86dd);
	assert_false(match->has_protocol);
}

TEST(modem_and_security) {
	const struct service_group *sg = group(state);
	const struct modem *modem = &sg->modems[0];

	assert_int_equal(sg->modem_count, 2);
	assert_memory_equal(modem->mac, ((uint8_t[]){2, 1, 0, 0, 0, 1}), 6);
	assert_int_equal(modem->address_count, 2);
	assert_int_equal(modem->addresses[0].family, 4);
	assert_int_equal(modem->addresses[1].family, 6);
	assert_int_equal(modem->cpe_limit, 0);
	assert_int_equal(modem->cpe_limit_ipv6, 3);
	assert_int_equal(modem->filter_group_count, 2);
	assert_int_equal(modem->filter_groups[0], 1);
	assert_int_equal(modem->filter_groups[1], 0);
	assert_int_equal(modem->bonding_group, 0);
	assert_int_equal(sg->modems[1].bonding_group, 1);
	assert_int_equal(modem->security.said, 0x3fff);
	assert_int_equal(modem->security.cipher, CIPHER_AES_128);
	/* 32 digits without a letter are a key and not a number */
	assert_memory_equal(
		modem->security.key,
		((uint8_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15}),
		16);
	assert_int_equal(modem->security.iv[0], 0x10);
	assert_int_equal(modem->security.iv[15], 0x1f);
	assert_int_equal(modem->security.key_sequence, 15);
	assert_int_equal(sg->modems[1].security.cipher, CIPHER_NONE);
}

TEST(flows_and_classifiers) {
	const struct modem *modem = &group(state)->modems[0];
	const struct service_flow *flow = modem->service_flows;

	assert_int_equal(modem->service_flow_count, 3);
	assert_int_equal(flow[0].id, 0xffffffff);
	assert_true(flow[0].active);
	assert_int_equal(flow[0].priority, 7);
	assert_true(flow[0].has_dsid);
	assert_int_equal(flow[0].dsid, SG_MAX_DSID);
	assert_int_equal(flow[0].buffer, 1u << 20);
	assert_false(flow[1].active);
	assert_false(flow[1].has_dsid);
	assert_true(flow[2].active);
	assert_int_equal(flow[2].priority, 0);
	assert_int_equal(flow[2].buffer, 512000);
	assert_int_equal(modem->classifier_count, 2);
	assert_int_equal(modem->classifiers[0].flow, 2);
	assert_int_equal(modem->classifiers[0].match.destination_ports.low, 5004);
	assert_false(modem->classifiers[0].match.has_protocol);
	assert_int_equal(modem->classifiers[1].flow, 0);
	assert_int_equal(modem->classifiers[1].match.ethertype, 0x800);
}

TEST(defaults_stand_where_nothing_is_said) {
	struct loaded loaded = load_text(SMALL);
	const struct service_group *sg = &loaded.sg;
	const struct modem *modem = sg->modems;

	assert_string_equal(loaded.said, "");
	assert_string_equal(sg->name, "sg");
	assert_int_equal(sg->id, 1);
	assert_non_null(strstr(sg->network.device, "net_memif0,role=server"));
	assert_non_null(strstr(sg->rphy_port.device, "net_memif1,role=server"));
	assert_int_equal(sg->network.queue_size, 4096);
	assert_int_equal(sg->max_frame, 2000);
	assert_int_equal(sg->threads.downstream, LAYOUT_1DS1T);
	assert_int_equal(sg->threads.upper_mac_core, 1);
	assert_int_equal(sg->rphy.core_ip.bytes[3], 1);
	assert_int_equal(sg->rphy.rpd_ip.bytes[3], 2);
	assert_int_equal(sg->rphy.mtu, 1500);
	assert_int_equal(sg->rphy.dscp, 0);
	assert_int_equal(sg->rphy.ttl, 64);
	assert_int_equal(sg->rphy.flush_ns, 50000);
	assert_int_equal(sg->rphy.max_segments, 16);
	assert_int_equal(sg->rate_limit, 10000000000);
	assert_int_equal(sg->cpe_timeout_ns, 300000000000);
	assert_int_equal(sg->filter_default, FILTER_PERMIT);
	assert_int_equal(sg->filter_group_count, 0);
	assert_int_equal(modem->cpe_limit, 16);
	assert_int_equal(modem->cpe_limit_ipv6, 16);
	assert_int_equal(modem->filter_group_count, 0);
	assert_int_equal(modem->classifier_count, 0);
	assert_int_equal(modem->security.key_sequence, 0);
	assert_true(modem->service_flows[0].active);
	assert_int_equal(modem->service_flows[0].buffer, 512000);
	assert_false(modem->service_flows[0].has_dsid);
	unload(&loaded);
}

TEST(no_rate_limit_is_zero) {
	struct loaded loaded = load_text("rate_limit: none\n" SMALL);

	assert_int_equal(loaded.mistakes, 0);
	assert_int_equal(loaded.sg.rate_limit, 0);
	unload(&loaded);
}

TEST(anchors_say_a_thing_once) {
	struct loaded loaded =
		load_text(SMALL_HEAD "modems:\n"
				     "  - mac: \"02:01:00:00:00:01\"\n"
				     "    addresses: [10.0.0.1]\n"
				     "    bonding_group: &group 1\n"
				     "    security: &shared {said: 1, key: &zero "
				     "\"00000000000000000000000000000000\", iv: *zero}\n"
				     "    service_flows: [{id: 1}]\n"
				     "  - mac: \"02:01:00:00:00:02\"\n"
				     "    addresses: [10.0.0.2]\n"
				     "    bonding_group: *group\n"
				     "    security: *shared\n"
				     "    service_flows: [{id: 2}]\n");

	assert_string_equal(loaded.said, "");
	assert_int_equal(loaded.sg.modems[1].security.said, 1);
	assert_int_equal(loaded.sg.modems[1].security.cipher, CIPHER_AES_128);
	unload(&loaded);
}

TEST(a_name_comes_from_the_file) {
	static const char *const names[][2] = {
		{"sg.yaml", "sg"},
		{"a/b.c/two words.v2.yaml", "two_words.v2"},
		{"/dir/.hidden", "xhidden"},
		{"/", "service-group"},
		{"node", "node"},
	};

	for (size_t i = 0; i < ARRAY_COUNT(names); i++) {
		struct service_group sg;

		assert_int_equal(
			service_group_load_text(names[i][0], SMALL, strlen(SMALL), &sg, stderr), 0);
		assert_string_equal(sg.name, names[i][1]);
		service_group_free(&sg);
	}
}

TEST(freeing_twice_is_harmless) {
	struct loaded loaded = load_text(SMALL);

	service_group_free(&loaded.sg);
	assert_null(loaded.sg.modems);
	unload(&loaded);
}

ALL_TESTS(load_full, unload_full)
