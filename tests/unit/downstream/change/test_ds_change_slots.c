/* SPDX-License-Identifier: BSD-3-Clause */
/* Places and numbers are given again, and nothing of who had them before is left; nothing grows by it. */
#include "test_main.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "downstream/qos.h"
#include "scheduler/report.h"

#include "change_kit.h"

#define TIMES 300
#define WARM 100 /* from then on nothing grows */

/* A channel, a bonding group, a filter group and a modem of these come; rules differ each time. Returns the modem. */
static struct kit_modem *all_come(unsigned i) {
	struct kit_bonding *g = kit_bonding(4);
	struct kit_filter *f = kit_filter(3);
	struct kit_modem *m = kit_modem(8, 8);

	g->channels[0] = 3;
	kit_rule(f, (uint16_t)(2000 + i), FILTER_DENY);
	kit_rule(f, 1001, FILTER_DENY);
	kit_address(m, 20);
	kit_address(m, 50);
	kit_flow(m, 40, 4);
	kit_flow(m, 41, 0);
	kit_classifier(m, (uint16_t)(3000 + i), 0);
	kit_classifier(m, 1002, 1);
	m->is.filter_groups[m->is.filter_group_count++] = 3;
	kit_will(LIVE_CHANNEL, 3, kit_channel(3));
	kit_will(LIVE_BONDING_GROUP, 4, g);
	kit_will(LIVE_FILTER_GROUP, 3, f);
	kit_will(LIVE_MODEM, 8, m);
	return m;
}

static void all_go(void) {
	kit_will(LIVE_MODEM, 8, NULL);
	kit_will(LIVE_FILTER_GROUP, 3, NULL);
	kit_will(LIVE_BONDING_GROUP, 4, NULL);
	kit_will(LIVE_CHANNEL, 3, NULL);
}

/* Of both heaps, once some turns have been done. */
static void nothing_grows(unsigned turn) {
	static size_t most;
	struct rte_malloc_socket_stats stats;
	size_t used;

	assert_int_equal(rte_malloc_get_socket_stats(0, &stats), 0);
	used = stats.heap_allocsz_bytes + mallinfo2().uordblks;
	if (turn == 0 || (turn < WARM && used > most))
		most = used;
	assert_true(used <= most);
}

/* The first packet of a flow has number 0, and the reader of the channel begins at 0 as well. */
static void first_packet(void) {
	struct scheduler_channel_report r;
	uint64_t back = kit->back;

	assert_int_equal(kit_send(20, 7).flow, 40);
	kit_settle();
	assert_int_equal(kit->back, back + 1);
	assert_int_equal(kit->last_sequence, 0);
	scheduler_report_channel(kit->d->upper.scheduler, 3, &r);
	assert_true(r.packets <= 1);
}

/* Also behind a change that was abandoned, which leaves nothing. */
TEST(places_are_given_again) {
	const struct ds_places *places = &kit->d->places;
	const uint32_t free_flows = places->free_flow_count;

	for (unsigned i = 0; i < TIMES; i++) {
		uint64_t began;

		all_come(i);
		kit_will(LIVE_MODEM, 1, NULL);
		assert_true(kit_begin());
		kit_send_all();
		kit_abandon();
		kit_settle();
		assert_int_equal(places->free_flow_count, free_flows);
		assert_false(places->leaving[LIVE_MODEM][1]);
		began = kit->clock.now;
		all_come(i);
		kit_change();
		assert_int_equal(places->free_flow_count, free_flows - 2);
		assert_true(qos_capacity(kit->d, 3, kit->clock.now) <=
			    (kit->clock.now - began) / 8); /* at 1 Gbps */
		first_packet();
		assert_int_equal(kit_send(20, 1001).reason, DROP_FILTER_DENY);
		assert_int_equal(kit_send(20, 1002).flow, 41);
		for (unsigned k = 0; k < 20; k++)
			kit_send(20, 7);
		all_go();
		kit_change();
		kit_settle();
		assert_int_equal(places->free_flow_count, free_flows);
		nothing_grows(i);
	}
	assert_true(kit->d->lists.filters.room <= 64);
	assert_true(kit->d->lists.classifiers.room <= 64);
	assert_int_equal(kit->back, kit->queued);
}

/* The third modem, which may have one active address, gets and loses some. */
static void third_has(const uint8_t *comes, const uint8_t *goes) {
	struct kit_modem *m = kit_modem(2, 2);

	for (; *goes != 0; goes++)
		kit_lose_address(m, *goes);
	for (; *comes != 0; comes++)
		kit_address(m, *comes);
	m->is.cpe_limit = 1;
	kit_will(LIVE_MODEM, 2, m);
	kit_change();
}

static void is_over_limit(uint8_t address) {
	struct rte_mbuf *packet;

	assert_int_equal(kit_put(address, 7, &packet), DROP_CPE_LIMIT);
}

/* The address after the one that went has its number, and has not been seen. */
TEST(address_numbers_are_given_again) {
	struct kit_modem *m;

	third_has((const uint8_t[]){20, 0}, (const uint8_t[]){0});
	kit_send(2, 7);
	is_over_limit(20);
	/* another order, and another one more: what is active stays so */
	third_has((const uint8_t[]){21, 2, 0}, (const uint8_t[]){2, 0});
	kit_send(2, 7);
	is_over_limit(20);
	is_over_limit(21);
	third_has((const uint8_t[]){22, 0}, (const uint8_t[]){2, 0});
	kit_send(22, 7);
	is_over_limit(20);

	kit_will(LIVE_MODEM, 2, NULL); /* nor has the address of the next modem in its place */
	kit_change();
	m = kit_modem(2, 9);
	kit_flow(m, 77, 0);
	kit_address(m, 20);
	kit_address(m, 21);
	m->is.cpe_limit = 1;
	kit_will(LIVE_MODEM, 2, m);
	kit_change();
	kit_send(21, 7);
	is_over_limit(20);
}

/* What a modem used up of its aggregate rate, the next one in its place has not. */
TEST(modem_begins_with_a_full_bucket) {
	for (unsigned i = 0; i < 5; i++) {
		struct kit_modem *m = all_come(i);
		struct counters before, after;

		m->is.aggregate_rate = 100000;
		m->is.aggregate_burst = 2000;
		kit_change();
		downstream_counters(kit->d, &before);
		for (unsigned k = 0; k < 40; k++)
			kit_send(20, 7);
		for (unsigned k = 0; k < 10; k++)
			kit_round();
		downstream_counters(kit->d, &after);
		assert_in_range(after.values[COUNTER_DEQUEUED] - before.values[COUNTER_DEQUEUED],
				20, 22); /* of 94 bytes */
		all_go();
		assert_true(kit_begin());
		kit_take(NULL);
		kit_finish(false);
	}
}

/* Another CPE timeout: who is active stays so for one to two periods of the new length. */
TEST(activity_outlasts_another_timeout) {
	struct service_group *next = malloc(sizeof(*next));

	third_has((const uint8_t[]){20, 0}, (const uint8_t[]){0});
	kit->clock.now = 7 * kit->sg.cpe_timeout_ns + 5;
	kit_send(2, 7);
	*next = kit->sg;
	next->cpe_timeout_ns = 1000000000;
	kit_will(LIVE_GROUP, 0, next);
	kit_change();
	is_over_limit(20);
	kit->clock.now += 1000000000;
	is_over_limit(20);
	kit->clock.now += 1000000000;
	kit_send(20, 7);
}

/* The change in hand is put aside. */
static struct kit_hand put_aside(void) {
	struct kit_hand hand = kit->hand;

	kit->hand.changes.count = 0;
	return hand;
}

/* It has been taken over by both MACs, and is put aside in the midst of its end. */
static struct kit_hand take_half(void) {
	kit_take(NULL);
	while (!ds_change_lower(kit->hand.change))
		;
	return put_aside();
}

static void goes_in_vain(enum live_object object, uint32_t slot, const char *why) {
	kit_will(object, slot, NULL);
	assert_false(kit_begin());
	assert_string_equal(kit->why, why);
}

/* One change drains while others come, rules and all; its places are its own until it has ended. */
TEST(changes_overlap) {
	struct kit_hand first;
	struct kit_modem *m;

	all_come(0);
	kit_change();
	for (unsigned i = 1; i < 30; i++) {
		for (unsigned k = 0; k < 50; k++)
			kit_send(20, 7);
		all_go();
		assert_true(kit_begin());
		first = take_half();

		m = kit_modem(1, 1);
		m->is.classifier_count = 0;
		kit_classifier(m, (uint16_t)(4000 + i), 0);
		kit_will(LIVE_MODEM, 1, m);
		kit_change();
		all_come(i);
		assert_false(kit_begin());
		assert_non_null(strstr(kit->why, "has not quite gone yet"));

		kit->hand = first;
		kit_finish(true);
		all_come(i);
		kit_change();
		assert_int_equal(kit_send(20, 1002).flow, 41);
	}
	kit_settle();
	assert_int_equal(kit->back, kit->queued);
}

static void is_not_in_turn(void) {
	const struct kit_hand first = put_aside();

	goes_in_vain(LIVE_MODEM, 1, "downstream: another change is still being taken over");
	kit->hand = first;
}

/* What is about to go uses what would go next: that waits for it. */
TEST(what_leaves_still_uses) {
	struct kit_hand first;

	all_come(0);
	kit_change();
	kit_will(LIVE_MODEM, 8, NULL);
	assert_true(kit_begin());
	is_not_in_turn();
	kit_take(NULL);
	is_not_in_turn();
	while (!ds_change_lower(kit->hand.change))
		;
	first = put_aside();
	goes_in_vain(LIVE_BONDING_GROUP, 4,
		     "bonding group in place 4: service flows of it have not quite gone yet");
	kit->hand = first;
	kit_finish(true);

	kit_will(LIVE_BONDING_GROUP, 4, NULL);
	assert_true(kit_begin());
	first = take_half();
	goes_in_vain(LIVE_CHANNEL, 3,
		     "channel in place 3: bonding groups of it have not quite gone yet");
	kit->hand = first;
	kit_finish(true);
	kit_will(LIVE_CHANNEL, 3, NULL);
	kit_change();
}

EACH_TEST(kit_start, kit_stop)
