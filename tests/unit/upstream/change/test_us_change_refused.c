/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests changes that are refused, with one line of reason and no effect, and changes that overlap. */
#include "us_change_kit.h"

#define ABSENT_MODEM 5 /* not in service after leave_out_last_modem() */
#define ABSENT_STREAM 8 /* its stream */

static struct modem new_modem;
static struct upstream_service_flow flows[SG_MAX_MODEM_FLOWS];
static struct sid_cluster clusters[SG_MAX_MODEM_FLOWS];
static struct upstream_sid sids[SG_MAX_MODEM_FLOWS][8];

/* The call of calloc() or arena_alloc() that fails, counted from 1. 0: none. */
static unsigned failing_call;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size) {
	if (failing_call > 0 && --failing_call == 0)
		return NULL;
	return __real_calloc(count, size);
}

struct arena;
void *__real_arena_alloc(struct arena *arena, size_t count, size_t size);
void *__wrap_arena_alloc(struct arena *arena, size_t count, size_t size);

void *__wrap_arena_alloc(struct arena *arena, size_t count, size_t size) {
	if (failing_call > 0 && --failing_call == 0)
		return NULL;
	return __real_arena_alloc(arena, count, size);
}

/* Makes `new_modem` a copy of ABSENT_MODEM with `flow_count` flows of one SID cluster each. A cluster has `sid_count`
 * SIDs, numbered from `sid` on, all on channel 0: more than MULPI allows, to exhaust the capacity. */
static void make_modem(unsigned flow_count, unsigned sid_count, uint16_t sid) {
	new_modem = kit->modems[ABSENT_MODEM];
	new_modem.upstream_flows = flows;
	new_modem.upstream_flow_count = flow_count;
	for (unsigned f = 0; f < flow_count; f++) {
		flows[f] = (struct upstream_service_flow){500 + f, true, &clusters[f], 1};
		clusters[f] = (struct sid_cluster){0, sids[f], sid_count};
		for (unsigned s = 0; s < sid_count; s++)
			sids[f][s] = (struct upstream_sid){0, sid++};
	}
}

/* The refused change took no slot and left none reserved, and the streams in service deliver. */
static void check_unchanged(struct slot_counts before) {
	check_slots(before);
	assert_null(kit->u->tables.slots.unapplied);
	for (uint32_t m = 0; m < spare_capacity.modems; m++)
		assert_false(kit->u->tables.slots.reserved[m]);
	for (unsigned s = 0; s < ABSENT_STREAM; s++)
		check_delivered(s);
}

/* What belongs to other objects, what cannot change in service, and what exceeds the capacity. */
CASE(conflicts_and_excess_are_refused, .prepare = leave_out_last_modem) {
	static struct upstream_channel channel;
	static struct service_group group;
	struct slot_counts before = count_slots();

	check_object_refused(LIVE_MODEM, spare_capacity.modems, &kit->modems[ABSENT_MODEM],
			     "capacity for 40 modems");
	check_object_refused(LIVE_UPSTREAM_CHANNEL, spare_capacity.upstream_channels,
			     kit->sg.upstream_channels, "capacity for 5 upstream channels");
	make_modem(SG_MAX_MODEM_FLOWS, 8, 0x200);
	check_object_refused(LIVE_MODEM, ABSENT_MODEM, &new_modem, "capacity for 200 SIDs");
	make_modem(1, 1, kit_streams[PLAIN].sid);
	check_object_refused(LIVE_MODEM, ABSENT_MODEM, &new_modem,
			     "channel and SID 0x40 belongs to another object in service");
	make_modem(2, 1, 0x200);
	sids[1][0] = sids[0][0];
	check_object_refused(LIVE_MODEM, ABSENT_MODEM, &new_modem,
			     "channel and SID 0x200 is used twice in the change");
	channel = kit->sg.upstream_channels[0];
	channel.session = KIT_OFDMA;
	check_object_refused(LIVE_UPSTREAM_CHANNEL, 0, &channel,
			     "session 0x20002 belongs to another object in service");
	group = kit->sg;
	group.upstream.psp_numbering = PSP_NUMBERING_SESSION;
	check_object_refused(LIVE_GROUP, 0, &group, "psp_numbering");
	group = kit->sg;
	group.upstream.pending *= 2;
	group.upstream.verify_source = false;
	check_object_refused(LIVE_GROUP, 0, &group, "upstream.held");
	assert_true(kit->u->verify_source.enabled);
	check_unchanged(before);
}

/* A change cannot use the flows that it removes: they are free only after its end. */
CASE(change_without_free_flows_is_refused, .prepare = leave_out_last_modem) {
	struct slot_counts before;

	for (unsigned modem = ABSENT_MODEM; modem < ABSENT_MODEM + 2; modem++) {
		make_modem(SG_MAX_MODEM_FLOWS, 1, (uint16_t)(0x200 + 0x100 * modem));
		change_object(LIVE_MODEM, modem, &new_modem);
	}
	before = count_slots();
	make_modem(before.flows + 1, 1, 0x200);
	add_change(LIVE_MODEM, 4, NULL);
	add_change(LIVE_MODEM, ABSENT_MODEM + 2, &new_modem);
	check_refused("modem 02:01:00:00:00:05: no capacity for upstream service flow 521");
	check_unchanged(before);
}

CASE(change_without_spare_capacity_is_refused) {
	static struct upstream_channel channel;
	struct slot_counts before = count_slots();

	channel = kit->sg.upstream_channels[0];
	channel.session = 0x777;
	check_object_refused(LIVE_UPSTREAM_CHANNEL, 0, &channel,
			     "upstream channel 1: no capacity for session 0x777");
	make_modem(2, 1, 0x200);
	check_object_refused(LIVE_MODEM, ABSENT_MODEM, &new_modem,
			     "no capacity for upstream service flow 500");
	check_slots(before);
}

/* A change is refused until the previous one is applied. Then it is refused if it uses a slot that the previous one has
 * not freed. */
CASE(change_begins_once_previous_is_applied, .prepare = leave_out_last_modem) {
	struct us_change *first, *second;

	add_change(LIVE_MODEM, 4, NULL);
	first = begin_change();
	check_refused("not applied yet");
	apply_change(first);
	check_object_refused(LIVE_MODEM, 4, &kit->modems[4], "slot 4 of modems is still in use");
	add_change(LIVE_MODEM, ABSENT_MODEM, &kit->modems[ABSENT_MODEM]);
	second = begin_change(); /* the first one is not flushed yet */
	apply_change(second);
	flush_change(second);
	us_change_end(second);
	flush_and_end(first);
	add_change(LIVE_MODEM, 4, &kit->modems[4]);
	add_change(LIVE_MODEM, 4, NULL);
	check_refused("slot 4 of modems is still in use");
	change_object(LIVE_MODEM, 4, &kit->modems[4]);
	check_all_delivered();
}

/* The first change of a modem ends after a second one is applied. It must not undo what that has written. */
CASE(second_change_of_modem_is_kept, .prepare = use_spare_capacity) {
	static struct modem second_next;
	struct us_change *first, *second;

	new_modem = kit->modems[4];
	new_modem.addresses = kit->modems[5].addresses;
	second_next = kit->modems[4];
	add_change(LIVE_MODEM, 5, NULL);
	add_change(LIVE_MODEM, 4, &new_modem);
	first = begin_and_apply();
	changes.count = 0;
	add_change(LIVE_MODEM, 4, &second_next);
	second = begin_and_apply();
	flush_change(first);
	us_change_end(first);
	assert_int_equal(kit->u->tables.modems[4].ipv4_count, 2);
	check_delivered(7);
	flush_and_end(second);
	assert_int_equal(kit->u->tables.modems[4].ipv4_count, 1);
	check_delivered(7);
}

/* The modem is removed before the first change is flushed, which must not touch the free slot. */
CASE(modem_is_removed_before_first_change_is_flushed, .prepare = use_spare_capacity) {
	const struct us_modem *slot;
	struct us_change *first, *second;

	slot = &kit->u->tables.modems[4];
	change_object(LIVE_MODEM, 3, &kit->modems[3]);
	add_change(LIVE_MODEM, 4, &kit->modems[4]);
	first = begin_and_apply();
	/* number of the first change; a free slot has 0, which the flush must not take for its own */
	assert_int_not_equal(slot->change, 0);
	changes.count = 0;
	add_change(LIVE_MODEM, 4, NULL);
	second = begin_and_apply();
	flush_change(second);
	us_change_end(second);
	flush_and_end(first);
	assert_null(slot->ipv4);
	assert_int_equal(slot->ipv4_count, 0);
	assert_int_equal(slot->ipv6_count, 0);
	change_object(LIVE_MODEM, 4, &kit->modems[4]);
	check_delivered(7);
}

CASE(change_without_memory_is_refused, .prepare = leave_out_last_modem) {
	struct us_change *c = NULL;
	struct slot_counts before = count_slots();
	unsigned failed = 0;

	make_modem(8, 8, 0x200);
	for (unsigned n = 1;; n++) {
		changes.count = 0;
		add_change(LIVE_MODEM, 4, NULL);
		add_change(LIVE_MODEM, 3, &kit->modems[3]);
		add_change(LIVE_MODEM, ABSENT_MODEM, &new_modem);
		/* free slots, which only make the lists of the change grow */
		for (unsigned m = 6; m < 40; m++)
			add_change(LIVE_MODEM, m, NULL);
		add_change(LIVE_UPSTREAM_CHANNEL, 2, NULL);
		failing_call = n;
		c = us_change_begin(kit->u, &kit->sg, &changes, NULL, why);
		if (failing_call > 0) /* the change made fewer than n allocations, so none failed */
			break;
		assert_null(c);
		failed++;
		assert_non_null(strstr(why, "no memory"));
		check_unchanged(before);
		assert_in_range(n, 1, 100);
	}
	assert_non_null(c);
	assert_in_range(
		failed, 20,
		60); /* allocations of the change: arena, chunks, two modems, growing lists */
	failing_call = 0;
	end_change(c);
	check_unchanged(before);
}
