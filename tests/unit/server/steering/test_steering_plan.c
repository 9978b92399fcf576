/* SPDX-License-Identifier: BSD-3-Clause */
/* By which rules a group would be told from the others of its port. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "server/steering_plan.h"

#define GROUPS 3

static struct upstream_channel channels[GROUPS][2];
static struct service_group groups[GROUPS];
static struct group_slots slots;

/* Alike but for their sessions. */
static int prepare(void **state) {
	(void)state;
	memset(groups, 0, sizeof(groups));
	slots = (struct group_slots){.count = GROUPS};
	for (unsigned g = 0; g < GROUPS; g++) {
		groups[g].id = g + 1;
		groups[g].rphy.core_ip.family = 4;
		groups[g].rphy.core_mac[5] = 1;
		groups[g].upstream_channels = channels[g];
		groups[g].upstream_channel_count = 2;
		channels[g][0] = (struct upstream_channel){.session = 16 * g + 1,
							   .request_session = 16 * g + 2};
		channels[g][1] = (struct upstream_channel){.session = 16 * g + 3};
		slots.list[g] = &groups[g];
	}
	return 0;
}

static void check(enum share_side side, unsigned group, const struct flow_match *expected,
		  unsigned count) {
	struct flow_match *list;

	assert_int_equal(steering_plan(side, &slots, group, &list), count);
	assert_true((list == NULL) == (count == 0));
	for (unsigned i = 0; i < count; i++)
		assert_true(flow_match_same(&list[i], &expected[i]));
	free(list);
}

static void by_vlan(void **state) {
	const struct flow_match expected = {.vlan = 7};

	(void)state;
	groups[1].network.vlan = groups[1].rphy_port.vlan = 7;
	check(SHARE_NETWORK, 1, &expected, 1);
	check(SHARE_RPHY, 1, &expected, 1);
	assert_string_equal(steering_plan_name(&expected), "VLAN");
	groups[2].network.vlan = 7;
	check(SHARE_NETWORK, 1, NULL, 0);
}

static void by_mac(void **state) {
	struct flow_match expected = {.by_mac = true, .mac = {2, 0, 0, 0, 0, 9}};

	(void)state;
	groups[1].network.has_mac = true;
	memcpy(groups[1].network.mac, expected.mac, 6);
	memcpy(groups[1].rphy.core_mac, expected.mac, 6);
	check(SHARE_NETWORK, 1, &expected, 1);
	check(SHARE_NETWORK, 0, NULL, 0); /* subscribers' addresses */
	check(SHARE_RPHY, 1, &expected, 1);
	assert_string_equal(steering_plan_name(&expected), "MAC address");
	for (unsigned g = 0; g < 2; g++)
		groups[g].network.vlan = groups[g].rphy_port.vlan = 7;
	expected.vlan = 7;
	check(SHARE_NETWORK, 1, &expected, 1);
	check(SHARE_RPHY, 1, &expected, 1);
	memcpy(groups[0].rphy.core_mac, expected.mac, 6); /* not its own any more */
	check(SHARE_RPHY, 1,
	      (const struct flow_match[]){{.vlan = 7, .family = 4, .session = 17},
					  {.vlan = 7, .family = 4, .session = 18},
					  {.vlan = 7, .family = 4, .session = 19}},
	      3);
	memcpy(groups[2].rphy.core_mac, expected.mac, 6); /* another VLAN */
	check(SHARE_RPHY, 2, &(struct flow_match){.by_mac = true, .mac = {2, 0, 0, 0, 0, 9}}, 1);
}

/* What has neither is by its sessions; where these repeat, a rule looks at the MAC address as well. */
static void by_session(void **state) {
	struct flow_match expected[] = {{.family = 6, .session = 1},
					{.family = 6, .session = 2},
					{.family = 6, .session = 3}};

	(void)state;
	groups[0].rphy.core_ip.family = 6;
	check(SHARE_RPHY, 0, expected, 3);
	assert_string_equal(steering_plan_name(expected), "session");
	groups[2].rphy.core_mac[5] = 2;
	channels[2][1].ranging_session = 2;
	for (unsigned i = 0; i < 3; i++) {
		expected[i].by_mac = true;
		expected[i].mac[5] = 1;
	}
	check(SHARE_RPHY, 0, expected, 3);
	slots.list[2] = NULL;
	for (unsigned i = 0; i < 3; i++) {
		expected[i].by_mac = false;
		expected[i].mac[5] = 0;
	}
	check(SHARE_RPHY, 0, expected, 3);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(by_vlan, prepare),
		cmocka_unit_test_setup(by_mac, prepare),
		cmocka_unit_test_setup(by_session, prepare),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
