/* SPDX-License-Identifier: BSD-3-Clause */
/* What cannot be made is refused with what is wrong, at the beginning, and has then changed nothing. */
#include "test.h"

#include <stdlib.h>
#include <string.h>

#include "change_rig.h"

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
	struct ds_modem modems[RIG_MODEMS];
	uint32_t numbers[RIG_MODEMS * SG_MAX_MODEM_FLOWS];
	uint32_t of_group[RIG_FILTERS], of_modem[RIG_MODEMS];
	uint32_t lists[2], free_flows;
	size_t rules[2];
	bool leaving[RIG_MODEMS];
	struct rules filters, classifiers;
	int32_t addresses[3];
};

static struct snapshot snapshot(void) {
	const struct downstream *d = rig->d;
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

/* The list of rig_will() is refused for this. */
static void refused(const char *why) {
	struct snapshot before;

	rig_settle();
	before = snapshot();
	if (rig_begin())
		fail_msg("taken, instead of: %s", why);
	assert_string_equal(rig->why, why);
	assert_untouched(&before);
	rig_send_all();
}

static struct rig_modem *newcomer(void) {
	struct rig_modem *m = rig_modem(7, 7);

	rig_address(m, 30);
	rig_flow(m, 50, 0);
	return m;
}

#define NEWCOMER "modem 02:01:00:00:00:07: "

static void references_that_lead_nowhere(void **state) {
	struct rig_modem *m;
	struct rig_bonding *g;

	(void)state;
	rig_open();
	m = newcomer();
	m->flows[0].bonding_group = 3;
	rig_will(LIVE_MODEM, 7, m);
	refused(NEWCOMER "service flow 50: its bonding group is not there");
	m = newcomer();
	m->flows[0].bonding_group = 99;
	rig_will(LIVE_MODEM, 7, m);
	refused(NEWCOMER "service flow 50: its bonding group is not there");
	m = newcomer();
	rig_classifier(m, 1001, 1);
	rig_will(LIVE_MODEM, 7, m);
	refused(NEWCOMER "classifiers[0]: its service flow is not there");
	m = newcomer();
	m->is.filter_groups[m->is.filter_group_count++] = 4;
	rig_will(LIVE_MODEM, 7, m);
	refused(NEWCOMER "one of its filter groups is not there");
	m = newcomer();
	rig_flow(m, 50, 0);
	rig_will(LIVE_MODEM, 7, m);
	refused(NEWCOMER "service flow 50: is there twice");
	m = newcomer();
	m->is.service_flow_count = 0;
	rig_will(LIVE_MODEM, 7, m);
	refused(NEWCOMER "it has 0 service flows");
	g = rig_bonding(2);
	g->channels[1] = 5;
	rig_will(LIVE_BONDING_GROUP, 2, g);
	refused("bonding group 3: one of its channels is not there");
	g = rig_bonding(2);
	g->is.channel_count = 0;
	rig_will(LIVE_BONDING_GROUP, 2, g);
	refused("bonding group 3: it has no channels");
	rig_close();
}

static void what_is_used_stays(void **state) {
	struct rig_modem *m;

	(void)state;
	rig_open();
	m = rig_modem(0, 0);
	m->is.filter_group_count = 1;
	rig_will(LIVE_MODEM, 0, m);
	rig_change();
	rig_will(LIVE_CHANNEL, 1, NULL);
	refused("channel in place 1: it is still used");
	rig_will(LIVE_BONDING_GROUP, 0, NULL);
	refused("bonding group in place 0: it is still used");
	rig_will(LIVE_FILTER_GROUP, 0, NULL);
	refused("filter group in place 0: it is still used");
	rig_will(LIVE_MODEM, 6, NULL);
	refused("modem in place 6: it is not there");
	rig_will(LIVE_GROUP, 0, NULL);
	refused("service group 3: it cannot go by a change");
	rig_close();
}

static void places_that_are_none(void **state) {
	(void)state;
	rig_open();
	rig->list[0] = (struct live_change){LIVE_MODEM, RIG_MODEMS, {NULL}};
	rig->next_schedules[0] = NULL;
	rig->changes.count = 1;
	refused("downstream: no room for one more object (place 10)");
	rig->list[0] = (struct live_change){LIVE_CHANNEL, UINT32_MAX, {NULL}};
	rig->changes.count = 1;
	refused("downstream: no room for one more object (place 4294967295)");
	rig->list[0] = (struct live_change){LIVE_OBJECTS, 0, {NULL}};
	rig->changes.count = 1;
	refused("downstream: no room for one more object (place 0)");
	rig_will(LIVE_MODEM, 1, NULL);
	rig_will(LIVE_MODEM, 1, rig_modem(1, 1));
	refused("modem 02:01:00:00:00:01: it is twice in one change");
	rig_close();
}

static void addresses_of_others(void **state) {
	struct rig_modem *m;

	(void)state;
	rig_open();
	m = newcomer();
	rig_address(m, 1);
	rig_will(LIVE_MODEM, 7, m);
	refused(NEWCOMER "one of its addresses is another modem's");
	m = rig_modem(7, 1);
	rig_flow(m, 50, 0);
	rig_will(LIVE_MODEM, 7, m);
	refused("modem 02:01:00:00:00:01: another modem has its MAC address");
	rig_will(LIVE_MODEM, 0, NULL); /* two want what one gives up */
	m = newcomer();
	rig_address(m, 0);
	rig_will(LIVE_MODEM, 7, m);
	m = rig_modem(8, 8);
	memcpy(m->is.mac, (const uint8_t[]){2, 1, 0xa, 0xb, 0xc, 8}, 6);
	rig_address(m, 0);
	rig_flow(m, 51, 0);
	rig_will(LIVE_MODEM, 8, m);
	refused("modem 02:01:0a:0b:0c:08: one of its addresses is another modem's");
	rig_close();
}

static void no_room(void **state) {
	struct rig_modem *m;

	(void)state;
	rig_open();
	for (uint32_t slot = 3; slot < 8; slot++) { /* 3 flows are there, of 30 */
		m = rig_modem(slot, (uint8_t)slot);
		for (uint32_t f = 0; f < 6; f++)
			rig_flow(m, 10 * slot + f, 0);
		rig_will(LIVE_MODEM, slot, m);
	}
	refused("modem 02:01:00:00:00:07: no room for one more service flow before those that "
		"leave "
		"have gone");
	m = newcomer();
	for (uint8_t a = 3; a < RIG_IPV4; a++) {
		if (a != 30)
			rig_address(m, a);
	}
	rig_will(LIVE_MODEM, 7, m);
	rig_change(); /* as many as there is room for */
	m = rig_modem(7, 7);
	m->addresses[m->is.address_count++] = (struct ip_address){4, {10, 0, 1, 1}};
	rig_will(LIVE_MODEM, 7, m);
	refused("downstream: no room for more than 40 addresses of a kind");
	m = rig_modem(7, 7); /* one for another: there is */
	m->addresses[5] = (struct ip_address){4, {10, 0, 1, 1}};
	rig_will(LIVE_MODEM, 7, m);
	assert_true(rig_begin());
	assert_string_equal(rig->why, ""); /* nothing of what was refused before */
	rig_abandon();
	rig_close();
}

static void what_the_scheduler_does_not_take(void **state) {
	struct service_group *next;
	struct rig_modem *m;
	struct channel *c;

	(void)state;
	rig_open();
	m = newcomer();
	m->flows[0].weight = 0;
	rig_will(LIVE_MODEM, 7, m);
	refused(NEWCOMER "service flow 50: a weight is 0");
	m = newcomer();
	m->is.aggregate_rate = 1;
	rig_will(LIVE_MODEM, 7, m);
	refused(NEWCOMER "a rate has a burst of 0 bytes");
	c = rig_channel(2);
	c->rate = 0;
	rig_will(LIVE_CHANNEL, 2, c);
	refused("channel 3: it has no rate");
	c = rig_channel(2);
	c->session = 0;
	rig_will(LIVE_CHANNEL, 2, c);
	refused("channel 3: its session is 0");
	next = malloc(sizeof(*next));
	*next = rig->sg;
	next->rate_limit = 1;
	rig_will(LIVE_GROUP, 0, next);
	refused("service group 3: rate_limit: a rate is below 1 kbps or above 1 Tbps");
	next = malloc(sizeof(*next));
	*next = rig->sg;
	next->cpe_timeout_ns = 0;
	rig_will(LIVE_GROUP, 0, next);
	refused("service group 3: cpe_timeout: is 0");
	rig_will(LIVE_MODEM, 7, newcomer());
	crypto_key_free(rig->crypto, CRYPTO_DOWNLINK, CIPHER_AES_128, rig->next_schedules[0]);
	rig->next_schedules[0] = NULL;
	refused(NEWCOMER "it has no key");
	rig_close();
}

static void plan_much(void) {
	struct rig_filter *f = rig_filter(2);
	struct rig_modem *m = newcomer();

	rig_rule(f, 1003, FILTER_DENY);
	rig_will(LIVE_CHANNEL, 2, rig_channel(2));
	rig_will(LIVE_BONDING_GROUP, 2, rig_bonding(2));
	rig_will(LIVE_FILTER_GROUP, 2, f);
	rig_classifier(m, 1002, 0);
	m->is.filter_groups[m->is.filter_group_count++] = 2;
	rig_will(LIVE_MODEM, 7, m);
	rig_will(LIVE_MODEM, 1, NULL);
}

/* Each allocation fails in turn. */
static void memory_runs_out(void **state) {
	struct snapshot before;
	bool done = false;
	unsigned n;

	(void)state;
	rig_open();
	before = snapshot();
	for (n = 0; !done; n++) {
		plan_much();
		counted = true;
		left = n;
		done = rig_begin();
		counted = false;
		if (done)
			break;
		assert_non_null(strstr(rig->why, "memory"));
		assert_untouched(&before);
	}
	assert_true(n > 25);
	rig_take(NULL);
	rig_finish(true);
	rig_send_all();
	rig_close();
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(references_that_lead_nowhere),
		cmocka_unit_test(what_is_used_stays),
		cmocka_unit_test(places_that_are_none),
		cmocka_unit_test(addresses_of_others),
		cmocka_unit_test(no_room),
		cmocka_unit_test(what_the_scheduler_does_not_take),
		cmocka_unit_test(memory_runs_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
