/* SPDX-License-Identifier: BSD-3-Clause */
/* What cannot be made is refused with what is wrong, at the beginning, and has then changed nothing. */
#include "test_main.h"

#include <stdlib.h>
#include <string.h>

#include "change_kit.h"

/* Allocations that there is memory for, where they are counted. */
static bool counted;
static unsigned left;

static bool granted(void) {
	return !counted || left-- > 0;
}

void *__real_malloc(size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_malloc(size_t size) {
	return granted() ? __real_malloc(size) : NULL;
}

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size) {
	return granted() ? __real_calloc(count, size) : NULL;
}

void *__real_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size);
void *__wrap_aligned_alloc(size_t align, size_t size) {
	return granted() ? __real_aligned_alloc(align, size) : NULL;
}

void *__real_reallocarray(void *p, size_t count, size_t size);
void *__wrap_reallocarray(void *p, size_t count, size_t size);
void *__wrap_reallocarray(void *p, size_t count, size_t size) {
	return granted() ? __real_reallocarray(p, count, size) : NULL;
}

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

	memset(&s, 0, sizeof(s));
	memcpy(s.modems, d->tables.modems, sizeof(s.modems));
	memcpy(s.numbers, d->tables.flow_numbers, sizeof(s.numbers));
	memcpy(s.of_group, d->lists.of_group, sizeof(s.of_group));
	memcpy(s.of_modem, d->lists.of_modem, sizeof(s.of_modem));
	s.lists[0] = d->lists.filters.used;
	s.lists[1] = d->lists.classifiers.used;
	s.rules[0] = d->lists.filters.rule_count;
	s.rules[1] = d->lists.classifiers.rule_count;
	s.free_flows = d->places.free_flow_count;
	memcpy(s.leaving, d->places.leaving[LIVE_MODEM], sizeof(s.leaving));
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

/* The list of kit_will() is refused for this. */
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

static struct kit_modem *newcomer(void) {
	struct kit_modem *m = kit_modem(7, 7);

	kit_address(m, 30);
	kit_flow(m, 50, 0);
	return m;
}

#define NEWCOMER "modem 02:01:00:00:00:07: "

static void modem_is_refused(uint32_t slot, struct kit_modem *m, const char *why) {
	kit_will(LIVE_MODEM, slot, m);
	refused(why);
}

TEST(references_that_lead_nowhere) {
	static const uint32_t no_groups[] = {3, 99};
	struct kit_modem *m;
	struct kit_bonding *g;

	for (size_t i = 0; i < ARRAY_COUNT(no_groups); i++) {
		m = newcomer();
		m->flows[0].bonding_group = no_groups[i];
		modem_is_refused(7, m, NEWCOMER "service flow 50: its bonding group is not there");
	}
	m = newcomer();
	kit_classifier(m, 1001, 1);
	modem_is_refused(7, m, NEWCOMER "classifiers[0]: its service flow is not there");
	m = newcomer();
	m->is.filter_groups[m->is.filter_group_count++] = 4;
	modem_is_refused(7, m, NEWCOMER "one of its filter groups is not there");
	m = newcomer();
	kit_flow(m, 50, 0);
	modem_is_refused(7, m, NEWCOMER "service flow 50: is there twice");
	m = newcomer();
	m->is.service_flow_count = 0;
	modem_is_refused(7, m, NEWCOMER "it has 0 service flows");
	g = kit_bonding(2);
	g->channels[1] = 5;
	kit_will(LIVE_BONDING_GROUP, 2, g);
	refused("bonding group 3: one of its channels is not there");
	g = kit_bonding(2);
	g->is.channel_count = 0;
	kit_will(LIVE_BONDING_GROUP, 2, g);
	refused("bonding group 3: it has no channels");
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
	struct kit_modem *m;

	m = kit_modem(0, 0);
	m->is.filter_group_count = 1;
	kit_will(LIVE_MODEM, 0, m);
	kit_change();
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		kit_will(cases[i].object, cases[i].slot, NULL);
		refused(cases[i].why);
	}
	kit_will(LIVE_MODEM, 1, NULL);
	modem_is_refused(1, kit_modem(1, 1), "modem 02:01:00:00:00:01: it is twice in one change");
}

TEST(addresses_of_others) {
	struct kit_modem *m;

	m = newcomer();
	kit_address(m, 1);
	modem_is_refused(7, m, NEWCOMER "one of its addresses is another modem's");
	m = kit_modem(7, 1);
	kit_flow(m, 50, 0);
	modem_is_refused(7, m, "modem 02:01:00:00:00:01: another modem has its MAC address");
	kit_will(LIVE_MODEM, 0, NULL); /* two want what one gives up */
	m = newcomer();
	kit_address(m, 0);
	kit_will(LIVE_MODEM, 7, m);
	m = kit_modem(8, 8);
	memcpy(m->is.mac, (const uint8_t[]){2, 1, 0xa, 0xb, 0xc, 8}, 6);
	kit_address(m, 0);
	kit_flow(m, 51, 0);
	modem_is_refused(8, m, "modem 02:01:0a:0b:0c:08: one of its addresses is another modem's");
}

TEST(no_room) {
	struct kit_modem *m;

	for (uint32_t slot = 3; slot < 8; slot++) { /* 3 flows are there, of 30 */
		m = kit_modem(slot, (uint8_t)slot);
		for (uint32_t f = 0; f < 6; f++)
			kit_flow(m, 10 * slot + f, 0);
		kit_will(LIVE_MODEM, slot, m);
	}
	refused("modem 02:01:00:00:00:07: no room for one more service flow before those that "
		"leave "
		"have gone");
	m = newcomer();
	for (uint8_t a = 3; a < KIT_IPV4; a++) {
		if (a != 30)
			kit_address(m, a);
	}
	kit_will(LIVE_MODEM, 7, m);
	kit_change(); /* as many as there is room for */
	m = kit_modem(7, 7);
	m->addresses[m->is.address_count++] = (struct ip_address){4, {10, 0, 1, 1}};
	modem_is_refused(7, m, "downstream: no room for more than 40 addresses of a kind");
	m = kit_modem(7, 7); /* one for another: there is */
	m->addresses[5] = (struct ip_address){4, {10, 0, 1, 1}};
	kit_will(LIVE_MODEM, 7, m);
	assert_true(kit_begin());
	assert_string_equal(kit->why, ""); /* nothing of what was refused before */
	kit_abandon();
}

static struct service_group *values(void) {
	struct service_group *next = malloc(sizeof(*next));

	assert_non_null(next);
	*next = kit->sg;
	return next;
}

TEST(what_the_scheduler_does_not_take) {
	struct service_group *next;
	struct kit_modem *m;
	struct channel *c;

	m = newcomer();
	m->flows[0].weight = 0;
	modem_is_refused(7, m, NEWCOMER "service flow 50: a weight is 0");
	m = newcomer();
	m->is.aggregate_rate = 1;
	modem_is_refused(7, m, NEWCOMER "a rate has a burst of 0 bytes");
	c = kit_channel(2);
	c->rate = 0;
	kit_will(LIVE_CHANNEL, 2, c);
	refused("channel 3: it has no rate");
	c = kit_channel(2);
	c->session = 0;
	kit_will(LIVE_CHANNEL, 2, c);
	refused("channel 3: its session is 0");
	next = values();
	next->rate_limit = 1;
	kit_will(LIVE_GROUP, 0, next);
	refused("service group 3: rate_limit: a rate is below 1 kbps or above 1 Tbps");
	next = values();
	next->cpe_timeout_ns = 0;
	kit_will(LIVE_GROUP, 0, next);
	refused("service group 3: cpe_timeout: is 0");
	kit_will(LIVE_MODEM, 7, newcomer());
	crypto_key_free(kit->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128, kit->hand.schedules[0]);
	kit->hand.schedules[0] = NULL;
	refused(NEWCOMER "it has no key");
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

/* Each allocation fails in turn. */
TEST(memory_runs_out) {
	struct snapshot before;
	bool done = false;
	unsigned n;

	before = snapshot();
	for (n = 0; !done; n++) {
		plan_much();
		counted = true;
		left = n;
		done = kit_begin();
		counted = false;
		if (done)
			break;
		assert_non_null(strstr(kit->why, "memory"));
		assert_untouched(&before);
	}
	assert_true(n > 25);
	kit_take(NULL);
	kit_finish(true);
	kit_send_all();
}

EACH_TEST(kit_start, kit_stop)
