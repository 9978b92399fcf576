/* SPDX-License-Identifier: BSD-3-Clause */
/* What random changes do not show: other frames of a channel, rates, CPE limits, places and numbers that are given again,
 * and changes that overlap. */
#include "test_main.h"

#include <malloc.h>

#include "downstream/qos.h"
#include "fixture.h"
#include "scheduler/report.h"

#include "change_kit.h"

#define TIMES 300
#define WARM 100 /* from then on nothing grows */

static void send_to(uint8_t address, unsigned packets) {
	for (; packets > 0; packets--)
		kit_send(address, 7);
}

static void rounds(unsigned n) {
	while (n-- > 0)
		kit_round();
}

/* A channel, a bonding group of it, a filter group and a modem come; rules differ each time. Returns the modem. */
static struct modem *all_come(unsigned i) {
	struct filter_group *f = kit_filter(3);
	struct modem *m = kit_modem(8, 8);

	kit_channel(3);
	kit_bonding(4)->channels[0] = 3;
	kit_rule(f, (uint16_t)(2000 + i), FILTER_DENY);
	kit_address(m, 20);
	kit_flow(m, 40, 4);
	kit_flow(m, 41, 0);
	kit_classifier(m, (uint16_t)(3000 + i), 0);
	kit_classifier(m, 1002, 1);
	m->filter_groups[m->filter_group_count++] = 3;
	return m;
}

static void all_go(void) {
	kit_remove(LIVE_MODEM, 8);
	kit_remove(LIVE_FILTER_GROUP, 3);
	kit_remove(LIVE_BONDING_GROUP, 4);
	kit_remove(LIVE_CHANNEL, 3);
}

/* To frames of another kind: what is open goes out first, as it was begun, and the numbers go on. */
TEST(channel_differs) {
	all_come(0);
	kit_change();
	send_to(20, 60);
	kit_settle();
	for (unsigned what = 0; what < 2; what++) {
		struct channel *c = kit_channel(3);
		uint64_t frames;

		if (what == 0)
			c->profile = 5;
		else
			c->psp_extra = PSP_EXTRA_STATIC;
		c->rate /= 2;
		assert_true(kit_begin());
		kit_take(NULL);
		send_to(20, 3);
		pipeline_run(&kit->d->dequeue);
		do
			pipeline_run(&kit->d->lower_mac);
		while (kit->d->lower.crypto->pending > 0);
		assert_non_null(kit->d->lower.depi.channels[3].head);
		while (!ds_change_lower(kit->hand.change))
			;
		assert_null(kit->d->lower.depi.channels[3].head);
		frames = kit->frames_of[3];
		kit_round();
		assert_true(kit->frames_of[3] > frames);
		kit->readers[3].extra = kit->now.channels[3].psp_extra;
		kit->readers[3].profile = kit->now.channels[3].profile;
		kit_finish(true);
		send_to(20, 60);
		kit_settle();
		assert_int_equal(kit->back, kit->queued);
	}
}

TEST(rate_limit_changes) {
	kit_values()->rate_limit = 1000000;
	kit_change();
	send_to(1, 60);
	rounds(50);
	assert_true(downstream_pending(kit->d) > 40); /* a packet takes 0.8 ms of it */
	kit_values()->rate_limit = 0;
	kit_change();
	rounds(50);
	assert_int_equal(downstream_pending(kit->d), 0);
}

/* The first packet of a flow has number 0, and the reader of the channel begins at 0 as well. */
TEST(places_are_given_again) {
	size_t used, most = 0; /* of both heaps */

	for (unsigned i = 0; i < TIMES; i++) {
		const uint64_t began = kit->clock.now, back = kit->back;
		struct scheduler_channel_report r;

		all_come(i);
		kit_change();
		assert_true(qos_capacity(kit->d, 3, kit->clock.now) <=
			    (kit->clock.now - began) / 8); /* at 1 Gbps */
		assert_int_equal(kit_send(20, 7).flow, 40);
		kit_settle();
		assert_int_equal(kit->back, back + 1);
		assert_int_equal(kit->last_sequence, 0);
		scheduler_report_channel(kit->d->upper.scheduler, 3, &r);
		assert_true(r.packets <= 1);
		all_go();
		kit_change();
		kit_settle();
		used = fixture_memory().heap_allocsz_bytes + mallinfo2().uordblks;
		assert_true(used <= most || i < WARM);
		most = RTE_MAX(most, used);
	}
	assert_true(kit->d->lists.filters.capacity <= 64);
	assert_true(kit->d->lists.classifiers.capacity <= 64);
}

/* The third modem, which may have one active address, gets and loses some. */
static void third_has(const uint8_t *comes, const uint8_t *goes) {
	struct modem *m = kit_modem(2, 2);

	for (; *goes != 0; goes++)
		kit_lose_address(m, *goes);
	for (; *comes != 0; comes++)
		kit_address(m, *comes);
	m->cpe_limit = 1;
	kit_change();
}

static void is_over_limit(uint8_t address) {
	struct rte_mbuf *packet;

	assert_int_equal(kit_put(address, 7, &packet), DROP_CPE_LIMIT);
}

/* The address after the one that went has its number, and has not been seen. */
TEST(address_numbers_are_given_again) {
	struct modem *m;

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

	kit_remove(LIVE_MODEM, 2); /* nor has the address of the next modem in its place */
	kit_change();
	m = kit_modem(2, 9);
	kit_flow(m, 77, 0);
	kit_address(m, 20);
	kit_address(m, 21);
	m->cpe_limit = 1;
	kit_change();
	kit_send(21, 7);
	is_over_limit(20);
}

/* Another CPE timeout: who is active stays so for one to two periods of the new length. */
TEST(activity_outlasts_another_timeout) {
	third_has((const uint8_t[]){20, 0}, (const uint8_t[]){0});
	kit->clock.now = 7 * kit->now.sg.cpe_timeout_ns + 5;
	kit_send(2, 7);
	kit_values()->cpe_timeout_ns = 1000000000;
	kit_change();
	is_over_limit(20);
	kit->clock.now += 1000000000;
	is_over_limit(20);
	kit->clock.now += 1000000000;
	kit_send(20, 7);
}

TEST(modem_begins_with_a_full_bucket) {
	for (unsigned i = 0; i < 5; i++) {
		struct modem *m = all_come(i);
		struct counters before, after;

		m->aggregate_rate = 100000;
		m->aggregate_burst = 2000;
		kit_change();
		downstream_counters(kit->d, &before);
		send_to(20, 40);
		rounds(10);
		downstream_counters(kit->d, &after);
		assert_in_range(after.values[COUNTER_DEQUEUED] - before.values[COUNTER_DEQUEUED],
				20, 22); /* of 94 bytes */
		all_go();
		assert_true(kit_begin());
		kit_take(NULL);
		kit_finish(false);
	}
}

/* The change in hand is put aside. */
static struct kit_hand put_aside(void) {
	struct kit_hand hand = kit->hand;

	kit->hand.changes.count = 0;
	return hand;
}

/* One is taken over by both MACs, and is put aside in the midst of its end. */
static struct kit_hand take_half(void) {
	assert_true(kit_begin());
	kit_take(NULL);
	while (!ds_change_lower(kit->hand.change))
		;
	return put_aside();
}

static void goes_in_vain(enum live_object object, uint32_t slot, const char *why) {
	kit_remove(object, slot);
	assert_false(kit_begin());
	assert_string_equal(kit->why, why);
}

static void nothing_begins(void) {
	const struct live_changes none = {.count = 0};

	assert_null(ds_change_begin(kit->d, &kit->now.sg, &none, NULL, kit->why));
	assert_string_equal(kit->why, "downstream: another change is still being taken over");
}

/* One change drains while others come, rules and all; its places are its own until it has ended, and what it uses waits
 * for it. */
TEST(changes_overlap) {
	struct kit_hand first;

	all_come(0);
	kit_change();
	for (unsigned i = 1; i < 30; i++) {
		struct modem *m;

		send_to(20, 50);
		all_go();
		first = take_half();
		m = kit_modem(1, 1);
		m->classifier_count = 0;
		kit_classifier(m, (uint16_t)(4000 + i), 0);
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
	kit_remove(LIVE_MODEM, 8);
	assert_true(kit_begin());
	nothing_begins();
	kit_take(NULL);
	nothing_begins();
	while (!ds_change_lower(kit->hand.change))
		;
	first = put_aside();
	goes_in_vain(LIVE_BONDING_GROUP, 4,
		     "bonding group in place 4: service flows of it have not quite gone yet");
	kit->hand = first;
	kit_finish(true);
	kit_remove(LIVE_BONDING_GROUP, 4);
	first = take_half();
	goes_in_vain(LIVE_CHANNEL, 3,
		     "channel in place 3: bonding groups of it have not quite gone yet");
	kit->hand = first;
	kit_finish(true);
	kit_remove(LIVE_CHANNEL, 3);
	kit_change();
	kit_settle();
	assert_int_equal(kit->back, kit->queued);
}

EACH_TEST(kit_start, kit_stop)
