/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests held against all else that is in service. */
#include "test_live_ask.h"

static void what_another_has(void **state) {
	static const struct {
		enum live_object object;
		const char *text, *line;
	} all[] = {
		{LIVE_MODEM,
		 "{mac: '02:01:00:00:00:02', addresses: ['10.0.0.9'], bonding_group: 2, "
		 "security: {said: 9, cipher: none}, service_flows: [{id: 9}]}",
		 "modem.mac: found 02:01:00:00:00:02 again, allowed: it once (modem "
		 "02:01:00:00:00:02 has it)"},
		{LIVE_MODEM,
		 "{mac: '02:01:00:00:00:09', addresses: ['10.0.0.9', '2001:db8::1'], "
		 "bonding_group: 2, security: {said: 9, cipher: none}, "
		 "service_flows: [{id: 9}]}",
		 "modem.addresses[1]: found 2001:db8::1 again, allowed: it once (modem "
		 "02:01:00:00:00:01 has it)"},
		{LIVE_MODEM, CLEAR_9 "service_flows: [{id: 9}, {id: 6}]}",
		 "modem.service_flows[1].id: found 6 again, allowed: it once (modem "
		 "02:01:00:00:00:02 has it)"},
		{LIVE_MODEM, CLEAR_9 "service_flows: [{id: 9, dsid: 1}]}",
		 "modem.service_flows[0].dsid: found 1 again, allowed: it once (modem "
		 "02:01:00:00:00:01 has it)"},
		{LIVE_MODEM,
		 CLEAR_9 "service_flows: [{id: 9}], upstream_service_flows: [{id: 4, "
			 "sid_clusters: [{id: 0, sids: [{channel: 2, sid: 2}]}]}]}",
		 "modem.upstream_service_flows[0].id: found 4 again, allowed: it once (modem "
		 "02:01:00:00:00:02 has it)"},
		{LIVE_MODEM,
		 CLEAR_9 "service_flows: [{id: 9}], upstream_service_flows: [{id: 8, "
			 "sid_clusters: [{id: 0, sids: [{channel: 1, sid: 2}]}]}]}",
		 "modem.upstream_service_flows[0].sid_clusters[0].sids[0].sid: found 2 again, "
		 "allowed: it once (modem 02:01:00:00:00:02 has it)"},
		{LIVE_MODEM, MAC_9 "security: {said: 1, cipher: none}, service_flows: [{id: 9}]}",
		 "modem.security.said: found 1, allowed: a said of its own, or the same keys, ivs, "
		 "cipher and key_sequence as the modems that share it (modem 02:01:00:00:00:01)"},
		{LIVE_CHANNEL, "{id: 1, type: ofdm, rate: '1 Gbps', session: 5}",
		 "channel.id: found 1 again, allowed: it once (channel 1 has it)"},
		{LIVE_CHANNEL, "{id: 5, type: ofdm, rate: '1 Gbps', session: 12}",
		 "channel.session: found 0x0000000c again, allowed: it once (channel 2 has it)"},
		{LIVE_UPSTREAM_CHANNEL, "{id: 5, type: ofdma, rate: '1 Gbps', session: 22}",
		 "upstream_channel.session: found 0x00000016 again, allowed: it once (upstream "
		 "channel 1 has it)"},
	};
	struct live_group l = live_of(LIVE_SMALL);

	(void)state;
	for (size_t i = 0; i < ARRAY_COUNT(all); i++)
		expect_refused(&l, LIVE_ADD, all[i].object, all[i].text, all[i].line);
	expect_done(&l, LIVE_ADD, LIVE_MODEM, MODEM_9, "1 modem added");
	live_group_free(&l);
}

/* MAPs have a session of their own downstream, also where nobody gave it one. */
static void sessions_of_maps(void **state) {
	static const char by_id[] = "{id: 5, type: ofdm, rate: '1 Gbps', session: 196609}";
	struct live_group scheduled = live_of("upstream: {scheduler: {}}\n" LIVE_SMALL);
	struct live_group unscheduled = live_of(LIVE_SMALL);

	(void)state;
	expect_refused(&scheduled, LIVE_ADD, LIVE_CHANNEL, by_id,
		       "channel.session: found 0x00030001 again, allowed: it once (upstream "
		       "channel 1 has it)");
	expect_refused(&scheduled, LIVE_SET, LIVE_CHANNEL, "{id: 1, session: 196610}",
		       "channel.session: found 0x00030002 again, allowed: it once (upstream "
		       "channel 2 has it)");
	expect_refused(&scheduled, LIVE_SET, LIVE_UPSTREAM_CHANNEL, "{id: 2, map_session: 13}",
		       "upstream_channel.map_session: found 0x0000000d again, allowed: it once "
		       "(channel 3 has it)");
	expect_done(&scheduled, LIVE_SET, LIVE_UPSTREAM_CHANNEL, "{id: 2, rate: '30 Mbps'}",
		    "nothing");
	expect_done(&unscheduled, LIVE_ADD, LIVE_CHANNEL, by_id, "1 channel added");
	live_group_free(&scheduled);
	live_group_free(&unscheduled);
}

static void modems_share_a_said(void **state) {
	struct live_group l = live_of(LIVE_SMALL);

	(void)state;
	expect_done(&l, LIVE_ADD, LIVE_MODEM,
		    MAC_9 "security: {said: 2, cipher: none}, service_flows: [{id: 9}]}",
		    "1 modem added");
	expect_refused(
		&l, LIVE_SET, LIVE_MODEM, "{mac: '02:01:00:00:00:02', security: {key_sequence: 3}}",
		"modem.security.said: found 2, allowed: a said of its own, or the same keys, "
		"ivs, cipher and key_sequence as the modems that share it (modem "
		"02:01:00:00:00:09)");
	expect_done(&l, LIVE_REMOVE, LIVE_MODEM, "{mac: '02:01:00:00:00:09'}", "1 modem removed");
	expect_done(&l, LIVE_SET, LIVE_MODEM,
		    "{mac: '02:01:00:00:00:02', security: {key_sequence: 3}}", "1 modem changed");
	live_group_free(&l);
}

/* Flows that are provisioned only have nothing reserved. */
static void provisioned_flows_reserve_nothing(void **state) {
	struct live_group l = live_of(LIVE_SMALL);

	(void)state;
	expect_done(&l, LIVE_SET, LIVE_MODEM,
		    "{mac: '02:01:00:00:00:02', service_flows: {44: {state: provisioned, "
		    "min_reserved_rate: '8 Mbps'}}}",
		    "1 modem changed");
	expect_done(&l, LIVE_ADD, LIVE_MODEM,
		    CLEAR_9 "service_flows: [{id: 9, min_reserved_rate: '37.5 Mbps'}]}",
		    "1 modem added");
	live_group_free(&l);
}

/* What is reserved of channels, from either side. */
static void channels_carry_what_is_reserved(void **state) {
	struct live_group l = live_of(LIVE_SMALL);

	(void)state;
	expect_done(&l, LIVE_ADD, LIVE_MODEM,
		    CLEAR_9 "service_flows: [{id: 9, min_reserved_rate: '30 Mbps'}]}",
		    "1 modem added");
	expect_refused(
		&l, LIVE_SET, LIVE_MODEM,
		"{mac: '02:01:00:00:00:02', service_flows: {4: {min_reserved_rate: "
		"'8 Mbps'}}}",
		"modem.service_flows[0].min_reserved_rate: found 8 Mbps on bonding group 2 by "
		"all flows of the modem, allowed: at most 7.5 Mbps, which its channels have "
		"left");
	expect_done(&l, LIVE_SET, LIVE_MODEM,
		    "{mac: '02:01:00:00:00:02', service_flows: {4: {min_reserved_rate: "
		    "'7.5 Mbps'}}}",
		    "1 modem changed");
	/* what it had reserved is not counted beside what it reserves */
	expect_done(&l, LIVE_SET, LIVE_MODEM,
		    "{mac: '02:01:00:00:00:02', service_flows: {4: {min_reserved_rate: '7 Mbps'}}}",
		    "1 modem changed");
	expect_done(&l, LIVE_SET, LIVE_MODEM,
		    "{mac: '02:01:00:00:00:02', service_flows: {4: {min_reserved_rate: "
		    "'7.5 Mbps'}}}",
		    "1 modem changed");
	expect_refused(&l, LIVE_SET, LIVE_CHANNEL, "{id: 3, rate: '37 Mbps'}",
		       "channel.rate: found channels of 37 Mbps in bonding group 2, allowed: at "
		       "least 37.5 Mbps, the sum of its flows' min_reserved_rate");
	expect_refused(
		&l, LIVE_SET, LIVE_BONDING_GROUP, "{id: 2, channels: [3, 1]}",
		"bonding_group.channels: found 2 channels, allowed: one, as 3 of the flows on "
		"it have no DSID");
	expect_done(&l, LIVE_SET, LIVE_BONDING_GROUP, "{id: 2, channels: [1]}",
		    "1 bonding group changed");
	expect_done(&l, LIVE_SET, LIVE_CHANNEL, "{id: 3, rate: '37 Mbps'}", "1 channel changed");
	expect_refused(&l, LIVE_SET, LIVE_BONDING_GROUP, "{id: 2, channels: [3]}",
		       "bonding_group.channels: found channels of 37 Mbps in bonding group 2, "
		       "allowed: at least 37.5 Mbps, the sum of its flows' min_reserved_rate");
	live_group_free(&l);
}

static void a_group_that_is_full(void **state) {
	struct live_group l = live_of("max_modems: 2\n" LIVE_SMALL);

	(void)state;
	expect_refused(
		&l, LIVE_ADD, LIVE_MODEM, MODEM_9,
		"modems: found 3 modems, allowed: 2, for which there is room since the start");
	expect_done(&l, LIVE_REMOVE, LIVE_MODEM, "{mac: '02:01:00:00:00:01'}", "1 modem removed");
	expect_done(&l, LIVE_ADD, LIVE_MODEM, MODEM_9, "1 modem added");
	assert_int_equal(place_of(&l, "02:01:00:00:00:09"), 0);
	live_group_free(&l);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_another_has),
		cmocka_unit_test(sessions_of_maps),
		cmocka_unit_test(modems_share_a_said),
		cmocka_unit_test(provisioned_flows_reserve_nothing),
		cmocka_unit_test(channels_carry_what_is_reserved),
		cmocka_unit_test(a_group_that_is_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
