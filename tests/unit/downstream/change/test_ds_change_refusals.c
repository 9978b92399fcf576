/* SPDX-License-Identifier: BSD-3-Clause */
/* What cannot be made is refused with what is wrong, at the beginning, and has then changed nothing. */
#include "test_main.h"

#include "change_kit.h"
#include "memory_runs_out.h"

/* What a refused change must not have touched. */
struct snapshot {
	struct ds_modem modems[KIT_MODEMS];
	uint32_t numbers[KIT_MODEMS * SG_MAX_MODEM_FLOWS];
	uint32_t of_group[KIT_FILTERS], of_modem[KIT_MODEMS];
	uint32_t lists[2], free_flows;
	size_t rules[2];
	bool retiring[KIT_MODEMS];
	struct rules filters, classifiers;
	int32_t addresses[3];
};

static struct snapshot snapshot(void) {
	const struct downstream *d = kit->d;
	struct snapshot s;

	memset(&s, 0, sizeof(s)); /* with what stands between the fields */
	memcpy(s.modems, d->tables.modems, sizeof(s.modems));
	memcpy(s.numbers, d->tables.flow_numbers, sizeof(s.numbers));
	memcpy(s.of_group, d->lists.of_group, sizeof(s.of_group));
	memcpy(s.of_modem, d->lists.of_modem, sizeof(s.of_modem));
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

static void assert_untouched(const struct snapshot *before) {
	struct snapshot now = snapshot();

	assert_memory_equal(&now, before, sizeof(now));
}

/* What was altered is refused. */
static void refused(const char *why) {
	struct snapshot before;

	kit_settle();
	before = snapshot();
	if (kit_begin())
		fail_msg("taken, instead of: %s", why);
	assert_string_equal(kit->why, why);
	assert_untouched(&before);
	kit_send_all();
}

static struct modem *newcomer(void) {
	struct modem *m = kit_modem(7, 7);

	kit_address(m, 30);
	kit_flow(m, 50, 0);
	return m;
}

#define NEWCOMER "modem 02:01:00:00:00:07: "

TEST(references_that_lead_nowhere) {
	newcomer()->service_flows[0].bonding_group = 3;
	refused(NEWCOMER "service flow 50: its bonding group is not there");
	newcomer()->service_flows[0].bonding_group = 99;
	refused(NEWCOMER "service flow 50: its bonding group is not there");
	kit_classifier(newcomer(), 1001, 1);
	refused(NEWCOMER "classifiers[0]: its service flow is not there");
	newcomer()->filter_group_count = 1;
	kit_modem(7, 7)->filter_groups[0] = 4;
	refused(NEWCOMER "one of its filter groups is not there");
	kit_flow(newcomer(), 50, 0);
	refused(NEWCOMER "service flow 50: is there twice");
	newcomer()->service_flow_count = 0;
	refused(NEWCOMER "it has 0 service flows");
	kit_bonding(2)->channels[1] = 5;
	refused("bonding group 3: one of its channels is not there");
	kit_bonding(2)->channel_count = 0;
	refused("bonding group 3: it has no channels");
}

TEST(addresses_of_others) {
	struct modem *m;

	kit_address(newcomer(), 1);
	refused(NEWCOMER "one of its addresses is another modem's");
	kit_flow(kit_modem(7, 1), 50, 0);
	refused("modem 02:01:00:00:00:01: another modem has its MAC address");
	kit_remove(LIVE_MODEM, 0); /* two want what one gives up */
	kit_address(newcomer(), 0);
	m = kit_modem(8, 8);
	memcpy(m->mac, (const uint8_t[]){2, 1, 0xa, 0xb, 0xc, 8}, 6);
	kit_address(m, 0);
	kit_flow(m, 51, 0);
	refused("modem 02:01:0a:0b:0c:08: one of its addresses is another modem's");
}

TEST(what_the_scheduler_does_not_take) {
	newcomer()->service_flows[0].weight = 0;
	refused(NEWCOMER "service flow 50: a weight is 0");
	newcomer()->aggregate_rate = 1;
	refused(NEWCOMER "a rate has a burst of 0 bytes");
	kit_channel(2)->rate = 0;
	refused("channel 3: it has no rate");
	kit_channel(2)->session = 0;
	refused("channel 3: its session is 0");
	kit_values()->rate_limit = 1;
	refused("service group 3: rate_limit: a rate is below 1 kbps or above 1 Tbps");
	kit_values()->cpe_timeout_ns = 0;
	refused("service group 3: cpe_timeout: is 0");
	newcomer();
	kit_list();
	crypto_key_free(kit->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128, kit->hand.schedules[0]);
	kit->hand.schedules[0] = NULL;
	refused(NEWCOMER "it has no key");
}

TEST(what_is_used_stays) {
	static const struct {
		enum live_object object;
		uint32_t slot;
		const char *why;
	} cases[] = {
		{LIVE_CHANNEL, 1, "channel in place 1: it is still used"},
		{LIVE_BONDING_GROUP, 0, "bonding group in place 0: it is still used"},
		{LIVE_FILTER_GROUP, 0, "filter group in place 0: it is still used"},
		{LIVE_MODEM, 6, "modem in place 6: it is not there"},
		{LIVE_GROUP, 0, "service group 3: it cannot go by a change"},
		/* slots that are none */
		{LIVE_MODEM, KIT_MODEMS, "downstream: no free slot for one more object (slot 10)"},
		{LIVE_CHANNEL, UINT32_MAX,
		 "downstream: no free slot for one more object (slot 4294967295)"},
		{LIVE_OBJECTS, 0, "downstream: no free slot for one more object (slot 0)"},
	};

	kit_modem(0, 0)->filter_group_count = 1;
	kit_change();
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		kit_will(cases[i].object, cases[i].slot, NULL);
		refused(cases[i].why);
	}
	kit_will(LIVE_MODEM, 1, NULL);
	kit_modem(1, 1);
	refused("modem 02:01:00:00:00:01: it is twice in one change");
}

TEST(no_room) {
	struct modem *m;

	for (uint32_t slot = 3; slot < 7; slot++) { /* 3 flows are there, of 30 */
		m = kit_modem(slot, (uint8_t)slot);
		for (uint32_t f = 0; f < 6; f++)
			kit_flow(m, 10 * slot + f, 0);
	}
	kit_change();
	m = newcomer();
	for (uint32_t f = 0; f < 3; f++)
		kit_flow(m, 70 + f, 0);
	refused(NEWCOMER
		"no free slot for one more service flow before those that leave have gone");
	m = newcomer();
	for (uint8_t a = 3; a < KIT_IPV4; a++) {
		if (a != 30)
			kit_address(m, a);
	}
	kit_change(); /* as many as there is room for */
	m = kit_modem(7, 7);
	m->addresses[m->address_count++] = (struct ip_address){4, {10, 0, 1, 1}};
	refused("downstream: no capacity for more than 40 addresses of a kind");
	m = kit_modem(7, 7); /* one for another: there is */
	m->addresses[5] = (struct ip_address){4, {10, 0, 1, 1}};
	assert_true(kit_begin());
	assert_string_equal(kit->why, ""); /* nothing of what was refused before */
	kit_abandon();
}

static bool begins(void *before) {
	struct ds_change *c = ds_change_begin(kit->d, &kit->now.sg, &kit->hand.changes,
					      kit->hand.schedules, kit->why);

	if (c != NULL)
		ds_change_end(c);
	else
		assert_non_null(strstr(kit->why, "memory"));
	assert_untouched(before);
	return c != NULL;
}

TEST(memory_runs_out) {
	struct snapshot before = snapshot();
	struct modem *m = newcomer();

	kit_rule(kit_filter(2), 1003, FILTER_DENY);
	kit_channel(2);
	kit_bonding(2);
	kit_classifier(m, 1002, 0);
	m->filter_groups[m->filter_group_count++] = 2;
	kit_remove(LIVE_MODEM, 1);
	kit_list();
	with_little_memory(begins, &before);
	kit_change();
	kit_send_all();
}

EACH_TEST(kit_start, kit_stop)
