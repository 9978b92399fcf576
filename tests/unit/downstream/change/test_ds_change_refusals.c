/* SPDX-License-Identifier: BSD-3-Clause */
/* What cannot be made is refused with what is wrong, at the beginning, and has then changed nothing. */
#include "test_main.h"

#include <stdlib.h>
#include <string.h>

#include "change_kit.h"
#include "memory_runs_out.h"

/* What a refused change must not have touched. */
struct snapshot {
	struct ds_modem modems[KIT_MODEMS];
	uint32_t numbers[KIT_MODEMS * SG_MAX_MODEM_FLOWS];
	uint32_t of_group[KIT_FILTERS], of_modem[KIT_MODEMS];
	uint32_t lists[2], free_flows;
	size_t rules[2];
	bool leaving[KIT_MODEMS];
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
	memcpy(s.leaving, d->places.leaving[LIVE_MODEM], sizeof(s.leaving));
	s.lists[0] = d->lists.filters.used;
	s.lists[1] = d->lists.classifiers.used;
	s.rules[0] = d->lists.filters.rule_count;
	s.rules[1] = d->lists.classifiers.rule_count;
	s.free_flows = d->places.free_flow_count;
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

/* The list with this object at its end is refused. */
static void refused(enum live_object object, uint32_t slot, void *block, const char *why) {
	struct snapshot before;

	kit_will(object, slot, block);
	kit_settle();
	before = snapshot();
	if (kit_begin())
		fail_msg("taken, instead of: %s", why);
	assert_string_equal(kit->why, why);
	assert_untouched(&before);
	kit_send_all();
}

static struct kit_modem *newcomer(void) {
	struct kit_modem *m = kit_modem(7, 7);

	kit_address(m, 30);
	kit_flow(m, 50, 0);
	return m;
}

static void newcomer_is_refused(struct kit_modem *m, const char *why) {
	char line[LIVE_LINE];

	snprintf(line, sizeof(line), "modem 02:01:00:00:00:07: %s", why);
	refused(LIVE_MODEM, 7, m, line);
}

TEST(references_that_lead_nowhere) {
	static const uint32_t no_groups[] = {3, 99};
	struct kit_modem *m;
	struct kit_bonding *g;

	for (size_t i = 0; i < ARRAY_COUNT(no_groups); i++) {
		m = newcomer();
		m->flows[0].bonding_group = no_groups[i];
		newcomer_is_refused(m, "service flow 50: its bonding group is not there");
	}
	m = newcomer();
	kit_classifier(m, 1001, 1);
	newcomer_is_refused(m, "classifiers[0]: its service flow is not there");
	m = newcomer();
	m->is.filter_groups[m->is.filter_group_count++] = 4;
	newcomer_is_refused(m, "one of its filter groups is not there");
	m = newcomer();
	kit_flow(m, 50, 0);
	newcomer_is_refused(m, "service flow 50: is there twice");
	m = newcomer();
	m->is.service_flow_count = 0;
	newcomer_is_refused(m, "it has 0 service flows");
	g = kit_bonding(2);
	g->channels[1] = 5;
	refused(LIVE_BONDING_GROUP, 2, g, "bonding group 3: one of its channels is not there");
	g = kit_bonding(2);
	g->is.channel_count = 0;
	refused(LIVE_BONDING_GROUP, 2, g, "bonding group 3: it has no channels");
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
		/* places that are none */
		{LIVE_MODEM, KIT_MODEMS, "downstream: no room for one more object (place 10)"},
		{LIVE_CHANNEL, UINT32_MAX,
		 "downstream: no room for one more object (place 4294967295)"},
		{LIVE_OBJECTS, 0, "downstream: no room for one more object (place 0)"},
	};
	struct kit_modem *m = kit_modem(0, 0);

	m->is.filter_group_count = 1;
	kit_will(LIVE_MODEM, 0, m);
	kit_change();
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
		refused(cases[i].object, cases[i].slot, NULL, cases[i].why);
	kit_will(LIVE_MODEM, 1, NULL);
	refused(LIVE_MODEM, 1, kit_modem(1, 1),
		"modem 02:01:00:00:00:01: it is twice in one change");
}

TEST(addresses_of_others) {
	struct kit_modem *m = newcomer();

	kit_address(m, 1);
	newcomer_is_refused(m, "one of its addresses is another modem's");
	m = kit_modem(7, 1);
	kit_flow(m, 50, 0);
	refused(LIVE_MODEM, 7, m, "modem 02:01:00:00:00:01: another modem has its MAC address");
	kit_will(LIVE_MODEM, 0, NULL); /* two want what one gives up */
	m = newcomer();
	kit_address(m, 0);
	kit_will(LIVE_MODEM, 7, m);
	m = kit_modem(8, 8);
	memcpy(m->is.mac, (const uint8_t[]){2, 1, 0xa, 0xb, 0xc, 8}, 6);
	kit_address(m, 0);
	kit_flow(m, 51, 0);
	refused(LIVE_MODEM, 8, m,
		"modem 02:01:0a:0b:0c:08: one of its addresses is another modem's");
}

TEST(no_room) {
	struct kit_modem *m;

	for (uint32_t slot = 3; slot < 7; slot++) { /* 3 flows are there, of 30 */
		m = kit_modem(slot, (uint8_t)slot);
		for (uint32_t f = 0; f < 6; f++)
			kit_flow(m, 10 * slot + f, 0);
		kit_will(LIVE_MODEM, slot, m);
	}
	m = newcomer();
	for (uint32_t f = 0; f < 3; f++)
		kit_flow(m, 70 + f, 0);
	newcomer_is_refused(m, "no room for one more service flow before those that leave have "
			       "gone");
	m = newcomer();
	for (uint8_t a = 3; a < KIT_IPV4; a++) {
		if (a != 30)
			kit_address(m, a);
	}
	kit_will(LIVE_MODEM, 7, m);
	kit_change(); /* as many as there is room for */
	m = kit_modem(7, 7);
	m->addresses[m->is.address_count++] = (struct ip_address){4, {10, 0, 1, 1}};
	refused(LIVE_MODEM, 7, m, "downstream: no room for more than 40 addresses of a kind");
	m = kit_modem(7, 7); /* one for another: there is */
	m->addresses[5] = (struct ip_address){4, {10, 0, 1, 1}};
	kit_will(LIVE_MODEM, 7, m);
	assert_true(kit_begin());
	assert_string_equal(kit->why, ""); /* nothing of what was refused before */
	kit_abandon();
}

static struct service_group *values(uint64_t rate_limit, uint64_t cpe_timeout_ns) {
	struct service_group *next = malloc(sizeof(*next));

	assert_non_null(next);
	*next = kit->sg;
	next->rate_limit = rate_limit;
	next->cpe_timeout_ns = cpe_timeout_ns;
	return next;
}

TEST(what_the_scheduler_does_not_take) {
	struct kit_modem *m = newcomer();
	struct channel *c = kit_channel(2);

	m->flows[0].weight = 0;
	newcomer_is_refused(m, "service flow 50: a weight is 0");
	m = newcomer();
	m->is.aggregate_rate = 1;
	newcomer_is_refused(m, "a rate has a burst of 0 bytes");
	c->rate = 0;
	refused(LIVE_CHANNEL, 2, c, "channel 3: it has no rate");
	c = kit_channel(2);
	c->session = 0;
	refused(LIVE_CHANNEL, 2, c, "channel 3: its session is 0");
	refused(LIVE_GROUP, 0, values(1, 1),
		"service group 3: rate_limit: a rate is below 1 kbps or above 1 Tbps");
	refused(LIVE_GROUP, 0, values(0, 0), "service group 3: cpe_timeout: is 0");
	kit_will(LIVE_MODEM, 7, newcomer());
	crypto_key_free(kit->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128, kit->hand.schedules[0]);
	kit->hand.schedules[0] = NULL;
	assert_false(kit_begin());
	assert_string_equal(kit->why, "modem 02:01:00:00:00:07: it has no key");
}

static void plan_much(void) {
	struct kit_filter *f = kit_filter(2);
	struct kit_modem *m = newcomer();

	kit_rule(f, 1003, FILTER_DENY);
	kit_will(LIVE_CHANNEL, 2, kit_channel(2));
	kit_will(LIVE_BONDING_GROUP, 2, kit_bonding(2));
	kit_will(LIVE_FILTER_GROUP, 2, f);
	kit_classifier(m, 1002, 0);
	m->is.filter_groups[m->is.filter_group_count++] = 2;
	kit_will(LIVE_MODEM, 7, m);
	kit_will(LIVE_MODEM, 1, NULL);
}

static bool begins(void *before) {
	struct ds_change *c = ds_change_begin(kit->d, &kit->sg, &kit->hand.changes,
					      kit->hand.schedules, kit->why);

	if (c != NULL)
		ds_change_end(c);
	else
		assert_non_null(strstr(kit->why, "memory"));
	assert_untouched(before);
	return c != NULL;
}

/* Each allocation fails in turn. */
TEST(memory_runs_out) {
	struct snapshot before = snapshot();

	plan_much();
	with_little_memory(begins, &before);
	kit_change();
	kit_send_all();
}

EACH_TEST(kit_start, kit_stop)
