/* SPDX-License-Identifier: BSD-3-Clause */
/* A change that cannot be made says why in one line, and nothing of the upstream is another one. */
#include "us_change_kit.h"

#define NOT_THERE 5 /* modem */
#define OF_NOT_THERE 8

static struct modem next;
static struct upstream_service_flow flows[SG_MAX_MODEM_FLOWS];
static struct sid_cluster clusters[SG_MAX_MODEM_FLOWS];
static struct upstream_sid sids[SG_MAX_MODEM_FLOWS][8];

/* Which allocation fails from now on, of calloc() or of an arena; 0: none. */
static unsigned fails_at;

void *__real_calloc(size_t count, size_t size);
void *__wrap_calloc(size_t count, size_t size);

void *__wrap_calloc(size_t count, size_t size) {
	if (fails_at > 0 && --fails_at == 0)
		return NULL;
	return __real_calloc(count, size);
}

struct arena;
void *__real_arena_alloc(struct arena *arena, size_t count, size_t size);
void *__wrap_arena_alloc(struct arena *arena, size_t count, size_t size);

void *__wrap_arena_alloc(struct arena *arena, size_t count, size_t size) {
	if (fails_at > 0 && --fails_at == 0)
		return NULL;
	return __real_arena_alloc(arena, count, size);
}

/* Flows of one cluster each, with SIDs from `sid` on of channel 0. */
static void modem_with(unsigned flow_count, unsigned sid_count, uint16_t sid) {
	next = bench->modems[NOT_THERE];
	next.upstream_flows = flows;
	next.upstream_flow_count = flow_count;
	for (unsigned f = 0; f < flow_count; f++) {
		flows[f] = (struct upstream_service_flow){500 + f, true, &clusters[f], 1};
		clusters[f] = (struct sid_cluster){0, sids[f], sid_count};
		for (unsigned s = 0; s < sid_count; s++)
			sids[f][s] = (struct upstream_sid){0, sid++};
	}
}

static void all_as_before(struct places_seen before) {
	places_are(before);
	assert_null(bench->u->tables.slots.unapplied);
	for (uint32_t m = 0; m < roomy.modems; m++)
		assert_false(bench->u->tables.slots.reserved[m]);
	for (unsigned s = 0; s < OF_NOT_THERE; s++)
		passes(s);
}

/* What belongs to others, what a group keeps, and what it has no room for. */
CASE(what_cannot_be_had, .prepare = without_last) {
	static struct upstream_channel channel;
	static struct service_group group;
	struct places_seen before = places_now();

	refuses(LIVE_MODEM, roomy.modems, &bench->modems[NOT_THERE], "capacity for 40 modems");
	refuses(LIVE_UPSTREAM_CHANNEL, roomy.upstream_channels, bench->sg.upstream_channels,
		"capacity for 5 upstream channels");
	modem_with(SG_MAX_MODEM_FLOWS, 8, 0x200);
	refuses(LIVE_MODEM, NOT_THERE, &next, "capacity for 200 SIDs");
	modem_with(1, 1, bench_streams[PLAIN].sid);
	refuses(LIVE_MODEM, NOT_THERE, &next, "channel and SID 0x40 belongs to another");
	modem_with(2, 1, 0x200);
	sids[1][0] = sids[0][0];
	refuses(LIVE_MODEM, NOT_THERE, &next, "channel and SID 0x200 has two owners");
	channel = bench->sg.upstream_channels[0];
	channel.session = BENCH_OFDMA;
	refuses(LIVE_UPSTREAM_CHANNEL, 0, &channel, "session 0x20002 belongs to another");
	group = bench->sg;
	group.upstream.psp_numbering = PSP_NUMBERING_SESSION;
	refuses(LIVE_GROUP, 0, &group, "psp_numbering");
	group = bench->sg;
	group.upstream.pending *= 2;
	group.upstream.verify_source = false;
	refuses(LIVE_GROUP, 0, &group, "upstream.held");
	assert_true(bench->u->verify_source.asked);
	all_as_before(before);
}

/* Flows of other modems, but for one that goes in the same change, have reserved all of them. */
CASE(no_room_for_flows, .prepare = without_last) {
	struct places_seen before;

	for (unsigned modem = NOT_THERE; modem < NOT_THERE + 2; modem++) {
		modem_with(SG_MAX_MODEM_FLOWS, 1, (uint16_t)(0x200 + 0x100 * modem));
		change_to(LIVE_MODEM, modem, &next);
	}
	before = places_now();
	modem_with(SG_MAX_MODEM_FLOWS, 1, 0x200);
	will_be(LIVE_MODEM, 4, NULL);
	will_be(LIVE_MODEM, NOT_THERE + 2, &next);
	refused("modem 02:01:00:00:00:05: no capacity for upstream service flow");
	all_as_before(before);
}

CASE(no_room_at_all) {
	static struct upstream_channel channel;
	struct places_seen before = places_now();

	channel = bench->sg.upstream_channels[0];
	channel.session = 0x777;
	refuses(LIVE_UPSTREAM_CHANNEL, 0, &channel,
		"upstream channel 1: no capacity for session 0x777");
	modem_with(2, 1, 0x200);
	refuses(LIVE_MODEM, NOT_THERE, &next, "no capacity for upstream service flow 500");
	places_are(before);
}

CASE(two_at_a_time, .prepare = without_last) {
	struct us_change *first, *second;

	will_be(LIVE_MODEM, 4, NULL);
	first = begin();
	refused("not taken over yet");
	take(first);
	refuses(LIVE_MODEM, 4, &bench->modems[4], "place 4 of modems is still in use");
	will_be(LIVE_MODEM, NOT_THERE, &bench->modems[NOT_THERE]);
	second = begin(); /* the first is leaving still */
	take(second);
	pass(second);
	us_change_end(second);
	pass_and_finish(first);
	will_be(LIVE_MODEM, 4, &bench->modems[4]);
	will_be(LIVE_MODEM, 4, NULL);
	refused("place 4 of modems is still in use");
	change_to(LIVE_MODEM, 4, &bench->modems[4]);
	all_pass();
}

/* Of the same modem: what the first would take back at its end, the second has written anew. */
CASE(two_of_one_modem, .prepare = with_room) {
	static struct modem second_next;
	struct us_change *first, *second;

	next = bench->modems[4];
	next.addresses = bench->modems[5].addresses;
	second_next = bench->modems[4];
	will_be(LIVE_MODEM, 5, NULL);
	will_be(LIVE_MODEM, 4, &next);
	first = taken();
	changes.count = 0;
	will_be(LIVE_MODEM, 4, &second_next);
	second = taken();
	pass(first);
	us_change_end(first);
	assert_int_equal(bench->u->tables.modems[4].ipv4_count, 2);
	passes(7);
	pass_and_finish(second);
	assert_int_equal(bench->u->tables.modems[4].ipv4_count, 1);
	passes(7);
}

/* It has gone when the first has passed: that has nothing to take back of a place that is free. */
CASE(goes_before_the_first_has_passed, .prepare = with_room) {
	const struct us_modem *place;
	struct us_change *first, *second;

	place = &bench->u->tables.modems[4];
	change_to(LIVE_MODEM, 3, &bench->modems[3]);
	will_be(LIVE_MODEM, 4, &bench->modems[4]);
	first = taken();
	assert_int_not_equal(place->change, 0); /* as a free place has it */
	changes.count = 0;
	will_be(LIVE_MODEM, 4, NULL);
	second = taken();
	pass(second);
	us_change_end(second);
	pass_and_finish(first);
	assert_null(place->ipv4);
	assert_int_equal(place->ipv4_count, 0);
	assert_int_equal(place->ipv6_count, 0);
	change_to(LIVE_MODEM, 4, &bench->modems[4]);
	passes(7);
}

CASE(little_memory, .prepare = without_last) {
	struct us_change *c = NULL;
	struct places_seen before = places_now();
	unsigned failed = 0;

	modem_with(8, 8, 0x200);
	for (unsigned n = 1;; n++) {
		changes.count = 0;
		will_be(LIVE_MODEM, 4, NULL);
		will_be(LIVE_MODEM, 3, &bench->modems[3]);
		will_be(LIVE_MODEM, NOT_THERE, &next);
		for (unsigned m = 6; m < 40; m++)
			will_be(LIVE_MODEM, m, NULL);
		will_be(LIVE_UPSTREAM_CHANNEL, 2, NULL);
		fails_at = n;
		c = us_change_begin(bench->u, &bench->sg, &changes, NULL, why);
		if (fails_at > 0) /* there was all that it takes */
			break;
		assert_null(c);
		failed++;
		assert_non_null(strstr(why, "no memory"));
		all_as_before(before);
		assert_in_range(n, 1, 100);
	}
	assert_non_null(c);
	assert_in_range(failed, 20, 60); /* the arena and its chunks, two modems, lists that grow */
	fails_at = 0;
	finish(c);
	all_as_before(before);
}
