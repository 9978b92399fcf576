/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests live_port_conflicts.c: changes of a group that conflict with another group of the same port are refused. */
#include "live_kit.h"
#include "test_main.h"

#include "model/live/live_port_conflicts.h"

#define PORTS(network, rphy, more)                                                             \
	"ports: {network: {device: \"" network "\"" more "}, rphy: {device: \"" rphy "\"" more \
	"}}\n"
#define NEW_MODEM(mac, address)                                                        \
	"{mac: '" mac "', addresses: ['10.0.0.77', '" address "'], bonding_group: 1, " \
	"security: {said: 9, cipher: none}, service_flows: [{id: 99, dsid: 99}]}"

struct group_pair {
	struct live_group groups[2];
};

static struct group_pair make_pair(const char *first_ports, const char *second_ports) {
	static const char other[] =
		"service_group: 2\n"
		"upstream: {scheduler: {}}\n"
		"channels: [{id: 1, type: ofdm, rate: 1 Gbps, session: 31}]\n"
		"upstream_channels: [{id: 1, type: ofdma, rate: 1 Gbps, session: 41, "
		"ranging_session: 42}]\n"
		"bonding_groups: [{id: 1, channels: [1]}]\n"
		"modems:\n"
		"  - {mac: \"02:01:00:00:00:08\", addresses: [10.0.0.8, \"2001:db8::8\"], "
		"bonding_group: 1, security: {said: 1, cipher: none}, service_flows: [{id: 1}]}\n";
	struct group_pair pair;
	char *text = NULL;

	assert_true(asprintf(&text, "%s%s", first_ports, LIVE_SMALL) > 0);
	pair.groups[0] = make_live_group(text);
	free(text);
	assert_true(asprintf(&text, "%s%s", second_ports, other) > 0);
	pair.groups[1] = make_live_group(text);
	free(text);
	return pair;
}

static void expect(struct group_pair *pair, enum live_object object, const char *text,
		   const char *line) {
	const struct live_group *groups[] = {&pair->groups[0], &pair->groups[1]};
	json_t *value = json_of(text);
	struct live_changes changes;
	char why[LIVE_LINE] = "";

	if (!live_request(groups[0], LIVE_ADD, object, value, &changes, why))
		fail_msg("%s", why);
	assert_int_equal(live_port_conflicts(groups, 2, 0, &changes, why), line[0] == '\0');
	assert_string_equal(why, line);
	live_changes_free(&changes);
	json_decref(value);
}

static void free_pair(struct group_pair *pair) {
	live_group_free(&pair->groups[0]);
	live_group_free(&pair->groups[1]);
}

/* Requests to the first group, and the conflict with the second if nothing distinguishes their packets; "": none. */
#define CHANNEL(n) LIVE_CHANNEL, "{id: 9, type: ofdm, rate: '1 Gbps', session: " n "}"
#define UPSTREAM(n) LIVE_UPSTREAM_CHANNEL, "{id: 9, type: ofdma, rate: '1 Gbps', session: " n "}"
#define MODEM(mac, address) LIVE_MODEM, NEW_MODEM(mac, address)
#define NET_CLASH                                                                  \
	", modem 02:01:00:00:00:08 of service group 2 has it; on port net_null0, " \
	"such groups need another vlan or mac"
#define RPHY_CLASH(other, what)                                                   \
	", " what " 1 of service group 2 has it; on port net_null1, such groups " \
	"need another vlan" other
static const struct {
	enum live_object object;
	const char *request, *line;
} cases[] = {
	{MODEM("02:01:00:00:00:09", "10.0.0.8"),
	 "modem.addresses[1]: duplicate 10.0.0.8" NET_CLASH},
	{MODEM("02:01:00:00:00:09", "2001:db8::8"),
	 "modem.addresses[1]: duplicate 2001:db8::8" NET_CLASH},
	{MODEM("02:01:00:00:00:08", "10.0.0.9"),
	 "modem.mac: duplicate 02:01:00:00:00:08" NET_CLASH},
	{MODEM("02:01:00:00:00:09", "10.0.0.9"), ""},
	{CHANNEL("31"),
	 "channel.session: duplicate 0x0000001f" RPHY_CLASH(", rpd_mac or rpd_ip", "channel")},
	{CHANNEL("41"), ""},
	{CHANNEL("196609"), "channel.session: duplicate 0x00030001" RPHY_CLASH(
				    ", rpd_mac or rpd_ip", "upstream channel")},
	{UPSTREAM("42"), "upstream_channel.session: duplicate 0x0000002a" RPHY_CLASH(
				 " or core_mac", "upstream channel")},
	{UPSTREAM("31"), ""},
	{UPSTREAM("9, map_session: 196609"),
	 "upstream_channel.map_session: duplicate 0x00030001" RPHY_CLASH(", rpd_mac or rpd_ip",
									 "upstream channel")},
	{LIVE_BONDING_GROUP, "{id: 9, channels: [1]}", ""},
};

/* Tests all cases with these ports. `distinct`: the ports distinguish the groups, so that nothing conflicts. */
static void expect_all(const char *first_ports, const char *second_ports, bool distinct) {
	struct group_pair pair = make_pair(first_ports, second_ports);

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		if (!distinct || strstr(cases[i].request, "map_session") == NULL)
			expect(&pair, cases[i].object, cases[i].request,
			       distinct ? "" : cases[i].line);
	}
	free_pair(&pair);
}

TEST(groups_of_one_port_conflict) {
	expect_all(PORTS("net_null0,size=64", "net_null1", ""),
		   PORTS("net_null0,size=64", "net_null1", ""), false);
}

TEST(groups_with_different_vlans_do_not_conflict) {
	expect_all(PORTS("net_null0", "net_null1", ", vlan: 7"),
		   PORTS("net_null0", "net_null1", ", vlan: 8"), true);
}

TEST(added_group_must_not_conflict) {
	struct group_pair pair =
		make_pair(PORTS("net_null0", "net_null1", ""), PORTS("net_null0", "net_null1", ""));
	const struct live_group *first = &pair.groups[0];
	struct service_group *sg = &pair.groups[1].sg;
	char why[LIVE_LINE] = "";

	assert_true(live_port_conflicts_new(&first, 1, sg, why));
	sg->upstream_channels[0].grants.map_session = first->sg.channels[0].session;
	assert_false(live_port_conflicts_new(&first, 1, sg, why));
	assert_non_null(strstr(why, "upstream_channel.map_session: duplicate 0x"));
	sg->upstream_channels[0].grants.map_session = 7777;
	sg->channels[0].session = first->sg.channels[0].session;
	assert_false(live_port_conflicts_new(&first, 1, sg, why));
	assert_non_null(strstr(why, "channel.session: duplicate 0x"));
	assert_true(live_port_conflicts_new(&first, 0, sg, why));
	sg->rphy.rpd_mac[5] ^= 1;
	assert_true(live_port_conflicts_new(&first, 1, sg, why));
	free_pair(&pair);
}
