/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests changes of framing, rates and CPE limits, reused slots, and overlapping changes. */
#include "test_main.h"

#include <malloc.h>

#include "downstream/qos.h"
#include "fixture.h"
#include "scheduler/report.h"

#include "change_kit.h"

#define TIMES 300
#define WARM 100 /* changes after which memory use is constant */

static void send_to(uint8_t address, unsigned packets) {
	for (; packets > 0; packets--)
		kit_send(address, 7);
}

static void run_rounds(unsigned n) {
	while (n-- > 0)
		kit_round();
}

/* Edits: adds a channel, a bonding group, a filter group, and a modem, which is returned. */
static struct modem *add_all(unsigned i) {
	struct filter_group *f = kit_edit_filter_group(3);
	struct modem *m = kit_edit_modem(8, 8);

	kit_edit_channel(3);
	kit_edit_bonding_group(4)->channels[0] = 3;
	kit_add_rule(f, (uint16_t)(2000 + i), FILTER_DENY);
	kit_add_address(m, 20);
	kit_add_flow(m, 40, 4);
	kit_add_flow(m, 41, 0);
	kit_add_classifier(m, (uint16_t)(3000 + i), 0);
	kit_add_classifier(m, 1002, 1);
	m->filter_groups[m->filter_group_count++] = 3;
	return m;
}

static void remove_all(void) {
	kit_remove(LIVE_MODEM, 8);
	kit_remove(LIVE_FILTER_GROUP, 3);
	kit_remove(LIVE_BONDING_GROUP, 4);
	kit_remove(LIVE_CHANNEL, 3);
}

/* If framing changes, the open DEPI frame is sent first in its old form. Numbers continue. */
TEST(channel_framing_changes_after_open_frame) {
	add_all(0);
	kit_change();
	send_to(20, 60);
	kit_settle();
	for (unsigned variant = 0; variant < 2; variant++) {
		struct channel *c = kit_edit_channel(3);
		uint64_t frames;

		if (variant == 0)
			c->profile = 5;
		else
			c->psp_extra = PSP_EXTRA_STATIC;
		c->rate /= 2;
		assert_true(kit_prepare());
		kit_apply(NULL);
		send_to(20, 3);
		pipeline_run(&kit->d->dequeue);
		do
			pipeline_run(&kit->d->lower_mac);
		while (kit->d->lower.crypto->pending > 0);
		assert_non_null(kit->d->lower.depi.channels[3].head);
		while (!ds_change_lower(kit->current.change))
			;
		assert_null(kit->d->lower.depi.channels[3].head);
		frames = kit->frame_count[3];
		kit_round();
		assert_true(kit->frame_count[3] > frames);
		kit->readers[3].extra = kit->now.channels[3].psp_extra;
		kit->readers[3].profile = kit->now.channels[3].profile;
		kit_finish(true);
		send_to(20, 60);
		kit_settle();
		assert_int_equal(kit->received, kit->queued);
	}
}

TEST(rate_limit_change_takes_effect) {
	kit_edit_group()->rate_limit = 1000000;
	kit_change();
	send_to(1, 60);
	run_rounds(50);
	assert_true(downstream_pending(kit->d) > 40); /* a packet takes 0.8 ms at this rate */
	kit_edit_group()->rate_limit = 0;
	kit_change();
	run_rounds(50);
	assert_int_equal(downstream_pending(kit->d), 0);
}

/* In a reused slot, the sequence numbers of flow and channel start at 0, and counters, too. */
TEST(reused_slots_start_afresh) {
	size_t used, max_used = 0; /* bytes of both heaps */

	for (unsigned i = 0; i < TIMES; i++) {
		const uint64_t began = kit->clock.now, before = kit->received;
		struct scheduler_channel_report r;

		add_all(i);
		kit_change();
		assert_true(qos_capacity(kit->d, 3, kit->clock.now) <=
			    (kit->clock.now - began) / 8); /* at 1 Gbps */
		assert_int_equal(kit_send(20, 7).flow, 40);
		kit_settle();
		assert_int_equal(kit->received, before + 1);
		assert_int_equal(kit->last_sequence, 0);
		scheduler_report_channel(kit->d->upper.scheduler, 3, &r);
		assert_true(r.packets <= 1);
		remove_all();
		kit_change();
		kit_settle();
		used = fixture_heap_stats().heap_allocsz_bytes + mallinfo2().uordblks;
		assert_true(used <= max_used || i < WARM);
		max_used = RTE_MAX(max_used, used);
	}
	assert_true(kit->d->lists.filters.capacity <= 64);
	assert_true(kit->d->lists.classifiers.capacity <= 64);
}

/* Adds and removes addresses of the third modem, whose CPE limit is 1. Both lists end with 0. */
static void change_third_modem(const uint8_t *added, const uint8_t *removed) {
	struct modem *m = kit_edit_modem(2, 2);

	for (; *removed != 0; removed++)
		kit_remove_address(m, *removed);
	for (; *added != 0; added++)
		kit_add_address(m, *added);
	m->cpe_limit = 1;
	kit_change();
}

static void check_over_limit(uint8_t address) {
	struct rte_mbuf *packet;

	assert_int_equal(kit_enqueue(address, 7, &packet), DROP_CPE_LIMIT);
}

/* An address that reuses a number does not inherit the activity of the old one. */
TEST(reused_address_number_is_inactive) {
	struct modem *m;

	change_third_modem((const uint8_t[]){20, 0}, (const uint8_t[]){0});
	kit_send(2, 7);
	check_over_limit(20);
	/* another order and an additional address: active ones stay active */
	change_third_modem((const uint8_t[]){21, 2, 0}, (const uint8_t[]){2, 0});
	kit_send(2, 7);
	check_over_limit(20);
	check_over_limit(21);
	change_third_modem((const uint8_t[]){22, 0}, (const uint8_t[]){2, 0});
	kit_send(22, 7);
	check_over_limit(20);

	kit_remove(LIVE_MODEM, 2); /* nor does the next modem in the slot */
	kit_change();
	m = kit_edit_modem(2, 9);
	kit_add_flow(m, 77, 0);
	kit_add_address(m, 20);
	kit_add_address(m, 21);
	m->cpe_limit = 1;
	kit_change();
	kit_send(21, 7);
	check_over_limit(20);
}

/* After a change of the CPE timeout, an active address stays so for one to two new periods. */
TEST(activity_survives_cpe_timeout_change) {
	change_third_modem((const uint8_t[]){20, 0}, (const uint8_t[]){0});
	kit->clock.now = 7 * kit->now.sg.cpe_timeout_ns + 5;
	kit_send(2, 7);
	kit_edit_group()->cpe_timeout_ns = 1000000000;
	kit_change();
	check_over_limit(20);
	kit->clock.now += 1000000000;
	check_over_limit(20);
	kit->clock.now += 1000000000;
	kit_send(20, 7);
}

TEST(added_modem_has_full_bucket) {
	for (unsigned i = 0; i < 5; i++) {
		struct modem *m = add_all(i);
		struct counters before, after;

		m->aggregate_rate = 100000;
		m->aggregate_burst = 2000;
		kit_change();
		downstream_counters(kit->d, &before);
		send_to(20, 40);
		run_rounds(10);
		downstream_counters(kit->d, &after);
		assert_in_range(after.values[COUNTER_DEQUEUED] - before.values[COUNTER_DEQUEUED],
				20, 22); /* packets of 94 bytes */
		remove_all();
		assert_true(kit_prepare());
		kit_apply(NULL);
		kit_finish(false);
	}
}

/* Saves the current change, so that another can begin. */
static struct kit_change_state save_change(void) {
	struct kit_change_state saved = kit->current;

	kit->current.changes.count = 0;
	return saved;
}

/* Applies a change in both MACs, and saves it before it is drained. */
static struct kit_change_state apply_without_end(void) {
	assert_true(kit_prepare());
	kit_apply(NULL);
	while (!ds_change_lower(kit->current.change))
		;
	return save_change();
}

static void check_removal_refused(enum live_object object, uint32_t slot, const char *why) {
	kit_remove(object, slot);
	assert_false(kit_prepare());
	assert_string_equal(kit->why, why);
}

static void check_no_change_begins(void) {
	const struct live_changes none = {.count = 0};

	assert_null(ds_change_begin(kit->d, &kit->now.sg, &none, NULL, kit->why));
	assert_string_equal(kit->why, "downstream: another change is still being applied");
}

/* The slots of a draining change, and objects that it uses, stay in use until its end. */
TEST(changes_overlap_with_draining_change) {
	struct kit_change_state earlier;

	add_all(0);
	kit_change();
	for (unsigned i = 1; i < 30; i++) {
		struct modem *m;

		send_to(20, 50);
		remove_all();
		earlier = apply_without_end();
		m = kit_edit_modem(1, 1);
		m->classifier_count = 0;
		kit_add_classifier(m, (uint16_t)(4000 + i), 0);
		kit_change();
		add_all(i);
		assert_false(kit_prepare());
		assert_non_null(strstr(kit->why, "is not complete"));
		kit->current = earlier;
		kit_finish(true);
		add_all(i);
		kit_change();
		assert_int_equal(kit_send(20, 1002).flow, 41);
	}
	kit_remove(LIVE_MODEM, 8);
	assert_true(kit_prepare());
	check_no_change_begins();
	kit_apply(NULL);
	check_no_change_begins();
	while (!ds_change_lower(kit->current.change))
		;
	earlier = save_change();
	check_removal_refused(
		LIVE_BONDING_GROUP, 4,
		"bonding group in slot 4: the removal of its service flows is not complete");
	kit->current = earlier;
	kit_finish(true);
	kit_remove(LIVE_BONDING_GROUP, 4);
	earlier = apply_without_end();
	check_removal_refused(
		LIVE_CHANNEL, 3,
		"channel in slot 3: the removal of its bonding groups is not complete");
	kit->current = earlier;
	kit_finish(true);
	kit_remove(LIVE_CHANNEL, 3);
	kit_change();
	kit_settle();
	assert_int_equal(kit->received, kit->queued);
}

EACH_TEST(kit_setup, kit_teardown)
