/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests that invalid changes are refused with a reason and without effect. */
#include "test_main.h"

#include "change_kit.h"
#include "failing_allocations.h"

/* The state that a refused change must not modify. */
struct snapshot {
	struct ds_modem modems[KIT_MODEMS];
	uint32_t numbers[KIT_MODEMS * SG_MAX_MODEM_FLOWS];
	uint32_t group_lists[KIT_FILTER_GROUPS], modem_lists[KIT_MODEMS];
	uint32_t lists[2], free_flows;
	size_t rules[2];
	bool retiring[KIT_MODEMS];
	struct rules filters, classifiers;
	int32_t addresses[3];
};

static struct snapshot snapshot(void) {
	const struct downstream *d = kit->d;
	struct snapshot s;

	memset(&s, 0, sizeof(s)); /* padding, too */
	memcpy(s.modems, d->tables.modems, sizeof(s.modems));
	memcpy(s.numbers, d->tables.flow_numbers, sizeof(s.numbers));
	memcpy(s.group_lists, d->lists.of_group, sizeof(s.group_lists));
	memcpy(s.modem_lists, d->lists.of_modem, sizeof(s.modem_lists));
	memcpy(s.retiring, d->slots.retiring[LIVE_MODEM], sizeof(s.retiring));
	s.lists[0] = d->lists.filters.used;
	s.lists[1] = d->lists.classifiers.used;
	s.rules[0] = d->lists.filters.rule_count;
	s.rules[1] = d->lists.classifiers.rule_count;
	s.free_flows = d->slots.free_flow_count;
	s.filters = d->upper.filters;
	s.classifiers = d->upper.classifiers;
	s.addresses[0] = rte_hash_count(d->tables.ipv4);
	s.addresses[1] = rte_hash_count(d->tables.ipv6);
	s.addresses[2] = rte_hash_count(d->tables.mac);
	return s;
}

static void check_unchanged(const struct snapshot *before) {
	struct snapshot now = snapshot();

	assert_memory_equal(&now, before, sizeof(now));
}

/* Checks that the edits are refused for this reason, without effect. */
static void check_refused(const char *why) {
	struct snapshot before;

	kit_settle();
	before = snapshot();
	if (kit_prepare())
		fail_msg("accepted, expected refusal: %s", why);
	assert_string_equal(kit->why, why);
	check_unchanged(&before);
	kit_send_all();
}

static struct modem *add_modem(void) {
	struct modem *m = kit_edit_modem(7, 7);

	kit_add_address(m, 30);
	kit_add_flow(m, 50, 0);
	return m;
}

#define ADDED "modem 02:01:00:00:00:07: "

TEST(missing_references_are_refused) {
	add_modem()->service_flows[0].bonding_group = 3;
	check_refused(ADDED "service flow 50: its bonding group does not exist");
	add_modem()->service_flows[0].bonding_group = 99;
	check_refused(ADDED "service flow 50: its bonding group does not exist");
	kit_add_classifier(add_modem(), 1001, 1);
	check_refused(ADDED "classifiers[0]: its service flow does not exist");
	add_modem()->filter_group_count = 1;
	kit_edit_modem(7, 7)->filter_groups[0] = 4;
	check_refused(ADDED "one of its filter groups does not exist");
	kit_add_flow(add_modem(), 50, 0);
	check_refused(ADDED "service flow 50: the ID is used twice");
	add_modem()->service_flow_count = 0;
	check_refused(ADDED "it has 0 service flows");
	kit_edit_bonding_group(2)->channels[1] = 5;
	check_refused("bonding group 3: one of its channels does not exist");
	kit_edit_bonding_group(2)->channel_count = 0;
	check_refused("bonding group 3: it has no channels");
}

TEST(addresses_in_use_are_refused) {
	struct modem *m;

	kit_add_address(add_modem(), 1);
	check_refused(ADDED "one of its addresses is another modem's");
	kit_add_flow(kit_edit_modem(7, 1), 50, 0);
	check_refused("modem 02:01:00:00:00:01: another modem has its MAC address");
	kit_remove(LIVE_MODEM, 0); /* two modems get an address that one gives up */
	kit_add_address(add_modem(), 0);
	m = kit_edit_modem(8, 8);
	memcpy(m->mac, (const uint8_t[]){2, 1, 0xa, 0xb, 0xc, 8}, 6);
	kit_add_address(m, 0);
	kit_add_flow(m, 51, 0);
	check_refused("modem 02:01:0a:0b:0c:08: one of its addresses is another modem's");
}

TEST(invalid_scheduler_settings_are_refused) {
	add_modem()->service_flows[0].weight = 0;
	check_refused(ADDED "service flow 50: a weight is 0");
	add_modem()->aggregate_rate = 1;
	check_refused(ADDED "a rate has a burst of 0 bytes");
	kit_edit_channel(2)->rate = 0;
	check_refused("channel 3: it has no rate");
	kit_edit_channel(2)->session = 0;
	check_refused("channel 3: its session is 0");
	kit_edit_group()->rate_limit = 1;
	check_refused("service group 3: rate_limit: a rate is below 1 kbps or above 1 Tbps");
	kit_edit_group()->cpe_timeout_ns = 0;
	check_refused("service group 3: cpe_timeout: is 0");
	add_modem();
	kit_list_changes();
	crypto_key_free(kit->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128, kit->current.schedules[0]);
	kit->current.schedules[0] = NULL;
	check_refused(ADDED "it has no key");
}

TEST(removal_of_used_object_is_refused) {
	static const struct {
		enum live_object object;
		uint32_t slot;
		const char *why;
	} cases[] = {
		{LIVE_CHANNEL, 1, "channel in slot 1: it is still used"},
		{LIVE_BONDING_GROUP, 0, "bonding group in slot 0: it is still used"},
		{LIVE_FILTER_GROUP, 0, "filter group in slot 0: it is still used"},
		{LIVE_MODEM, 6, "modem in slot 6: the object does not exist"},
		{LIVE_GROUP, 0, "service group 3: the group itself cannot be removed by a change"},
		/* invalid slots */
		{LIVE_MODEM, KIT_MODEMS, "downstream: no free slot for one more object (slot 10)"},
		{LIVE_CHANNEL, UINT32_MAX,
		 "downstream: no free slot for one more object (slot 4294967295)"},
		{LIVE_OBJECTS, 0, "downstream: no free slot for one more object (slot 0)"},
	};

	kit_edit_modem(0, 0)->filter_group_count = 1;
	kit_change();
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		kit_add_change(cases[i].object, cases[i].slot, NULL);
		check_refused(cases[i].why);
	}
	kit_add_change(LIVE_MODEM, 1, NULL);
	kit_edit_modem(1, 1);
	check_refused("modem 02:01:00:00:00:01: the object is twice in one change");
}

TEST(change_beyond_capacity_is_refused) {
	struct modem *m;

	for (uint32_t slot = 3; slot < 7; slot++) { /* 3 of 30 flows exist */
		m = kit_edit_modem(slot, (uint8_t)slot);
		for (uint32_t f = 0; f < 6; f++)
			kit_add_flow(m, 10 * slot + f, 0);
	}
	kit_change();
	m = add_modem();
	for (uint32_t f = 0; f < 3; f++)
		kit_add_flow(m, 70 + f, 0);
	check_refused(ADDED
		      "no free slot for one more service flow before removed flows are drained");
	m = add_modem();
	for (uint8_t a = 3; a < KIT_IPV4; a++) {
		if (a != 30)
			kit_add_address(m, a);
	}
	kit_change(); /* reaches the capacity */
	m = kit_edit_modem(7, 7);
	m->addresses[m->address_count++] = (struct ip_address){4, {10, 0, 1, 1}};
	check_refused("downstream: no capacity for more than 40 addresses of one family");
	m = kit_edit_modem(7, 7); /* replaces an address: has capacity */
	m->addresses[5] = (struct ip_address){4, {10, 0, 1, 1}};
	assert_true(kit_prepare());
	assert_string_equal(kit->why, ""); /* no reason of an earlier refusal */
	kit_abandon();
}

static bool try_prepare(void *before) {
	struct ds_change *c = ds_change_begin(kit->d, &kit->now.sg, &kit->current.changes,
					      kit->current.schedules, kit->why);

	if (c != NULL)
		ds_change_end(c);
	else
		assert_non_null(strstr(kit->why, "memory"));
	check_unchanged(before);
	return c != NULL;
}

TEST(failed_allocation_leaves_state_unchanged) {
	struct snapshot before = snapshot();
	struct modem *m = add_modem();

	kit_add_rule(kit_edit_filter_group(2), 1003, FILTER_DENY);
	kit_edit_channel(2);
	kit_edit_bonding_group(2);
	kit_add_classifier(m, 1002, 0);
	m->filter_groups[m->filter_group_count++] = 2;
	kit_remove(LIVE_MODEM, 1);
	kit_list_changes();
	fail_each_allocation(try_prepare, &before);
	kit_change();
	kit_send_all();
}

EACH_TEST(kit_setup, kit_teardown)
