/* SPDX-License-Identifier: BSD-3-Clause */
/* Places and numbers are given again, and nothing of who had them before is left; nothing grows by it. */
#include "test.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include <rte_malloc.h>

#include "downstream/qos.h"
#include "scheduler/report.h"

#include "change_rig.h"

#define TIMES 300
#define WARM 100 /* from then on nothing grows */

/* A channel, a bonding group, a filter group and a modem of these come; rules differ each time. */
static void all_come(unsigned i) {
	struct channel *c = rig_channel(3);
	struct rig_bonding *g = rig_bonding(4);
	struct rig_filter *f = rig_filter(3);
	struct rig_modem *m = rig_modem(8, 8);

	g->channels[0] = 3;
	rig_rule(f, (uint16_t)(2000 + i), FILTER_DENY);
	rig_rule(f, 1001, FILTER_DENY);
	rig_address(m, 20);
	rig_address(m, 50);
	rig_flow(m, 40, 4);
	rig_flow(m, 41, 0);
	rig_classifier(m, (uint16_t)(3000 + i), 0);
	rig_classifier(m, 1002, 1);
	m->is.filter_groups[m->is.filter_group_count++] = 3;
	rig_will(LIVE_CHANNEL, 3, c);
	rig_will(LIVE_BONDING_GROUP, 4, g);
	rig_will(LIVE_FILTER_GROUP, 3, f);
	rig_will(LIVE_MODEM, 8, m);
}

static void all_go(void) {
	rig_will(LIVE_MODEM, 8, NULL);
	rig_will(LIVE_FILTER_GROUP, 3, NULL);
	rig_will(LIVE_BONDING_GROUP, 4, NULL);
	rig_will(LIVE_CHANNEL, 3, NULL);
}

static size_t memory_used(void) {
	struct rte_malloc_socket_stats stats;

	assert_int_equal(rte_malloc_get_socket_stats(0, &stats), 0);
	return stats.heap_allocsz_bytes + mallinfo2().uordblks;
}

/* The first packet of a flow has number 0, and the reader of the channel begins at 0 as well. */
static void first_packet(void) {
	struct scheduler_channel_report r;
	uint64_t back = rig->back;

	assert_int_equal(rig_send(20, 7).flow, 40);
	rig_settle();
	assert_int_equal(rig->back, back + 1);
	assert_int_equal(rig->last_sequence, 0);
	scheduler_report_channel(rig->d->upper.scheduler, 3, &r);
	assert_true(r.packets <= 1);
}

static void places_are_given_again(void **state) {
	uint32_t free_flows;
	size_t memory = 0;

	(void)state;
	rig_open();
	free_flows = rig->d->places.free_flow_count;
	for (unsigned i = 0; i < TIMES; i++) {
		uint64_t began = rig->clock.now;

		all_come(i);
		rig_change();
		assert_int_equal(rig->d->places.free_flow_count, free_flows - 2);
		assert_true(qos_capacity(rig->d, 3, rig->clock.now) <=
			    (rig->clock.now - began) / 8); /* at 1 Gbps */
		first_packet();
		assert_int_equal(rig_send(20, 1001).reason, DROP_FILTER_DENY);
		assert_int_equal(rig_send(20, 1002).flow, 41);
		for (unsigned k = 0; k < 20; k++)
			rig_send(20, 7);
		all_go();
		rig_change();
		rig_settle();
		assert_int_equal(rig->d->places.free_flow_count, free_flows);
		if (i < WARM && memory_used() > memory)
			memory = memory_used();
		assert_true(memory_used() <= memory);
	}
	assert_true(rig->d->lists.filters.room <= 64);
	assert_true(rig->d->lists.classifiers.room <= 64);
	assert_int_equal(rig->back, rig->queued);
	rig_close();
}

/* An abandoned change leaves nothing either. */
static void abandoned_changes_leave_nothing(void **state) {
	uint32_t free_flows;
	size_t memory = 0;

	(void)state;
	rig_open();
	free_flows = rig->d->places.free_flow_count;
	for (unsigned i = 0; i < TIMES; i++) {
		all_come(i);
		rig_will(LIVE_MODEM, 1, NULL);
		assert_true(rig_begin());
		rig_send_all();
		rig_abandon();
		rig_settle();
		assert_int_equal(rig->d->places.free_flow_count, free_flows);
		assert_false(rig->d->places.leaving[LIVE_MODEM][1]);
		if (i < WARM && memory_used() > memory)
			memory = memory_used();
		assert_true(memory_used() <= memory);
	}
	rig_close();
}

/* The address after the one that went has its number, and has not been seen. */
static void address_numbers_are_given_again(void **state) {
	struct rte_mbuf *packet;
	struct rig_modem *m;

	(void)state;
	rig_open();
	m = rig_modem(2, 2);
	rig_address(m, 20);
	m->is.cpe_limit = 1;
	rig_will(LIVE_MODEM, 2, m);
	rig_change();
	rig_send(2, 7);
	assert_int_equal(rig_put(20, 7, &packet), DROP_CPE_LIMIT);

	m = rig_modem(2, 2); /* another order, and another one more: what is active stays so */
	rig_lose_address(m, 2);
	rig_address(m, 21);
	rig_address(m, 2);
	rig_will(LIVE_MODEM, 2, m);
	rig_change();
	rig_send(2, 7);
	assert_int_equal(rig_put(20, 7, &packet), DROP_CPE_LIMIT);
	assert_int_equal(rig_put(21, 7, &packet), DROP_CPE_LIMIT);

	m = rig_modem(2, 2);
	rig_lose_address(m, 2);
	rig_address(m, 22);
	rig_will(LIVE_MODEM, 2, m);
	rig_change();
	rig_send(22, 7);
	assert_int_equal(rig_put(20, 7, &packet), DROP_CPE_LIMIT);

	rig_will(LIVE_MODEM, 2, NULL); /* nor has the address of the next modem in its place */
	rig_change();
	m = rig_modem(2, 9);
	rig_flow(m, 77, 0);
	rig_address(m, 20);
	rig_address(m, 21);
	m->is.cpe_limit = 1;
	rig_will(LIVE_MODEM, 2, m);
	rig_change();
	rig_send(21, 7);
	assert_int_equal(rig_put(20, 7, &packet), DROP_CPE_LIMIT);
	rig_close();
}

/* How many packets of the modem in place 8 go at once. */
static uint64_t go_at_once(void) {
	struct counters before, after;

	downstream_counters(rig->d, &before);
	for (unsigned i = 0; i < 40; i++)
		rig_send(20, 7);
	for (unsigned i = 0; i < 10; i++)
		rig_round();
	downstream_counters(rig->d, &after);
	return after.values[COUNTER_DEQUEUED] - before.values[COUNTER_DEQUEUED];
}

/* What a modem used up of its aggregate rate, the next one in its place has not. */
static void modem_begins_with_a_full_bucket(void **state) {
	(void)state;
	rig_open();
	for (unsigned i = 0; i < 5; i++) {
		struct rig_modem *m;

		all_come(i);
		m = (struct rig_modem *)(uintptr_t)rig->list[rig->changes.count - 1].next;
		m->is.aggregate_rate = 100000;
		m->is.aggregate_burst = 2000;
		rig_change();
		assert_in_range(go_at_once(), 20, 22); /* of 94 bytes */
		all_go();
		assert_true(rig_begin());
		rig_take(NULL);
		rig_finish(false);
	}
	rig_close();
}

/* Another CPE timeout: who is active stays so for one to two periods of the new length. */
static void activity_outlasts_another_timeout(void **state) {
	struct service_group *next = malloc(sizeof(*next));
	struct rte_mbuf *packet;
	struct rig_modem *m;

	(void)state;
	rig_open();
	m = rig_modem(2, 2);
	rig_address(m, 20);
	m->is.cpe_limit = 1;
	rig_will(LIVE_MODEM, 2, m);
	rig_change();
	rig->clock.now = 7 * rig->sg.cpe_timeout_ns + 5;
	rig_send(2, 7);
	*next = rig->sg;
	next->cpe_timeout_ns = 1000000000;
	rig_will(LIVE_GROUP, 0, next);
	rig_change();
	assert_int_equal(rig_put(20, 7, &packet), DROP_CPE_LIMIT);
	rig->clock.now += 1000000000;
	assert_int_equal(rig_put(20, 7, &packet), DROP_CPE_LIMIT);
	rig->clock.now += 1000000000;
	rig_send(20, 7);
	rig_close();
}

/* Of a change that is in the midst of its end, while another one is made. */
struct half_done {
	struct live_changes changes;
	struct live_change list[RIG_CHANGES];
	void *schedules[RIG_CHANGES];
	struct ds_change *change;
};

static void put_aside(struct half_done *h) {
	h->changes = rig->changes;
	memcpy(h->list, rig->list, sizeof(h->list));
	memcpy(h->schedules, rig->next_schedules, sizeof(h->schedules));
	h->change = rig->change;
	rig->changes.count = 0;
}

static void take_again(const struct half_done *h) {
	rig->changes = h->changes;
	memcpy(rig->list, h->list, sizeof(h->list));
	memcpy(rig->next_schedules, h->schedules, sizeof(h->schedules));
	rig->change = h->change;
}

/* One change drains while others come, rules and all; its places are its own until it has ended. */
static void changes_overlap(void **state) {
	static struct half_done first;
	struct rig_modem *m;

	(void)state;
	rig_open();
	all_come(0);
	rig_change();
	for (unsigned i = 1; i < 30; i++) {
		for (unsigned k = 0; k < 50; k++)
			rig_send(20, 7);
		all_go();
		assert_true(rig_begin());
		rig_take(NULL);
		while (!ds_change_lower(rig->change))
			;
		put_aside(&first);

		m = rig_modem(1, 1);
		m->is.classifier_count = 0;
		rig_classifier(m, (uint16_t)(4000 + i), 0);
		rig_will(LIVE_MODEM, 1, m);
		rig_change();
		all_come(i);
		assert_false(rig_begin());
		assert_non_null(strstr(rig->why, "has not quite gone yet"));

		take_again(&first);
		rig_finish(true);
		all_come(i);
		rig_change();
		assert_int_equal(rig_send(20, 1002).flow, 41);
	}
	rig_settle();
	assert_int_equal(rig->back, rig->queued);
	rig_close();
}

static void is_not_in_turn(void) {
	static struct half_done first;

	put_aside(&first);
	rig_will(LIVE_MODEM, 1, NULL);
	assert_false(rig_begin());
	assert_string_equal(rig->why, "downstream: another change is still being taken over");
	take_again(&first);
}

/* What is about to go uses what would go next: that waits for it. */
static void what_leaves_still_uses(void **state) {
	static struct half_done first;

	(void)state;
	rig_open();
	all_come(0);
	rig_change();
	rig_will(LIVE_MODEM, 8, NULL);
	assert_true(rig_begin());
	is_not_in_turn();
	rig_take(NULL);
	is_not_in_turn();
	while (!ds_change_lower(rig->change))
		;
	put_aside(&first);
	rig_will(LIVE_BONDING_GROUP, 4, NULL);
	assert_false(rig_begin());
	assert_string_equal(rig->why,
			    "bonding group in place 4: service flows of it have not quite "
			    "gone yet");
	take_again(&first);
	rig_finish(true);

	rig_will(LIVE_BONDING_GROUP, 4, NULL);
	assert_true(rig_begin());
	rig_take(NULL);
	while (!ds_change_lower(rig->change))
		;
	put_aside(&first);
	rig_will(LIVE_CHANNEL, 3, NULL);
	assert_false(rig_begin());
	assert_string_equal(rig->why,
			    "channel in place 3: bonding groups of it have not quite gone yet");
	take_again(&first);
	rig_finish(true);
	rig_will(LIVE_CHANNEL, 3, NULL);
	rig_change();
	rig_close();
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_given_again),
		cmocka_unit_test(abandoned_changes_leave_nothing),
		cmocka_unit_test(address_numbers_are_given_again),
		cmocka_unit_test(modem_begins_with_a_full_bucket),
		cmocka_unit_test(activity_outlasts_another_timeout),
		cmocka_unit_test(changes_overlap),
		cmocka_unit_test(what_leaves_still_uses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
