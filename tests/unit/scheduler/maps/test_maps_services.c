/* SPDX-License-Identifier: BSD-3-Clause */
/* Unsolicited grants and polls: how many, of how much, and when. */
#include "maps_kit.h"
#include "test_main.h"

#define SEEN 20000

/* When minislots of a SID begin, in samples. */
struct times {
	uint16_t sid;
	uint32_t count;
	uint64_t at[SEEN];
};

static struct times times;

static void note(struct kit *r, uint32_t channel, const struct map *map) {
	const struct maps_channel *c = &r->channels[channel];

	for (uint32_t i = 0; map->elements[i].iuc != MAP_NULL; i++) {
		const struct map_element *e = &map->elements[i];
		uint64_t minislot = map->alloc_start + e->offset;

		if (e->sid != times.sid)
			continue;
		assert_true(times.count < SEEN);
		times.at[times.count++] = minislot / c->frame_minislots * c->frame;
	}
}

static void create(struct kit *r, struct maps_channel channel, uint32_t count) {
	kit_create_alike(r, channel, count, 1000);
	r->on_map = note;
	times.count = 0;
	times.sid = 1;
}

static const struct maps_flow voice = {
	.type = MAPS_UNSOLICITED,
	.grant_interval = MS(20),
	.grant_jitter = US(800),
	.grant_bytes = 232,
	.grants = 1,
	.header_bytes = 8,
};

/* Each grant within the jitter behind a time that is an exact number of intervals after the first. */
static void assert_regular(uint64_t interval, uint64_t jitter) {
	uint64_t least = UINT64_MAX, most = 0;

	for (uint32_t i = 0; i < times.count; i++) {
		uint64_t off = times.at[i] + MS(1000) - times.at[0] - i * interval;

		least = off < least ? off : least;
		most = off > most ? off : most;
	}
	assert_true(most - least <= jitter);
}

/* Where 100 other such flows, and a greedy one, have the channel: its grants are cut in two where needed. */
TEST(voice_is_on_time_beside_others) {
	const struct maps_channel kinds[] = {kit_ofdma(1), kit_sc_qam(1)};
	struct kit r;

	for (size_t k = 0; k < 2; k++) {
		uint32_t voices = k == 0 ? 100 : 60;

		create(&r, kinds[k], 1);
		for (uint32_t i = 0; i < voices; i++)
			assert_null(kit_flow(&r, i, 1, voice));
		assert_null(
			kit_flow(&r, 200, 1, (struct maps_flow){.priority = 7, .header_bytes = 8}));
		for (int i = 0; i < 1000; i++) {
			kit_ask(&r, 200, 200000);
			kit_run(&r, maps_due(r.m));
		}
		assert_in_range(times.count, 98, 102);
		assert_regular(MS(20), US(800));
		assert_int_equal(kit_counts(&r).missed, 0);
		assert_int_equal(kit_counts(&r).belated, 0);
		for (uint32_t i = 0; i < voices; i++)
			assert_in_range(kit_granted(&r, i), 98 * (k == 0 ? 5 : 12),
					102 * (k == 0 ? 5 : 12));
		kit_check_counts(&r);
		kit_free(&r);
	}
}

/* In each interval the guaranteed bytes, and on request what is more; what was asked for is served by them first. */
TEST(proactive_grants_are_guaranteed) {
	const uint32_t intervals[] = {US(500), US(135), US(1000), US(2025), US(5000)};
	struct kit r;

	for (size_t k = 0; k < ARRAY_COUNT(intervals); k++) {
		struct maps_flow f = {
			.type = MAPS_PROACTIVE,
			.guaranteed_rate = 5000000,
			.grant_interval = intervals[k],
			.grant_jitter = US(200),
			.header_bytes = 8,
		};
		uint64_t expected = MS(2000) / intervals[k];
		uint64_t each = ((uint64_t)intervals[k] * 5000000 + UINT64_C(8) * MAPS_HZ - 1) /
				(UINT64_C(8) * MAPS_HZ);
		struct maps_counts n;

		create(&r, kit_ofdma(1), 1);
		assert_null(kit_flow(&r, 0, 1, f));
		kit_run(&r, r.now + MS(2000));
		n = kit_counts(&r);
		assert_in_range(n.granted_bytes, (expected - 16) * each, (expected + 16) * each);
		assert_int_equal(n.granted_bytes, n.unsolicited_bytes);
		assert_regular(intervals[k], US(200) + 27648);
		kit_ask(&r, 0, 100);
		kit_run(&r, r.now + MS(20));
		assert_int_equal(kit_counts(&r).owed_bytes, 0);
		n = kit_counts(&r);
		assert_int_equal(n.granted_bytes - n.unsolicited_bytes, 100);
		kit_free(&r);
	}
}

TEST(what_is_promised_is_no_more_than_there_is) {
	struct maps_flow f = voice;
	uint32_t flows = 0;
	struct kit r;

	create(&r, kit_sc_qam(1), 2);
	while (kit_flow(&r, flows, 3, voice) == NULL)
		flows++;
	/* 160 000 minislots a second, less 4 000 for requests, and of these seven eighths; 600 for each */
	assert_in_range(flows, 2 * 226, 2 * 228);
	assert_string_equal(
		kit_flow(&r, flows, 3, voice),
		"unsolicited grants or polls are more than a channel of the flow has left");
	kit_run(&r, r.now + MS(2000));
	assert_int_equal(kit_counts(&r).missed, 0);
	for (uint32_t i = 0; i < flows; i++)
		assert_in_range(kit_granted(&r, i), 98 * 12, 101 * 12);
	assert_null(kit_flow(&r, 0, 0, f)); /* what one gives up another may have */
	assert_null(kit_flow(&r, flows, 3, voice));
	assert_non_null(kit_flow(&r, 0, 3, voice));
	assert_null(kit_flow(&r, 5, 3, voice)); /* its own place is its own */
	kit_free(&r);
}

TEST(reservations_are_no_more_than_there_is) {
	struct maps_flow f = {.reserved = 10000000, .header_bytes = 8};
	uint32_t flows = 0;
	struct kit r;

	create(&r, kit_ofdma(1), 2);
	while (kit_flow(&r, flows, 3, f) == NULL)
		flows++;
	assert_in_range(flows, 130, 133); /* of 668 Mbps each */
	assert_string_equal(kit_flow(&r, flows, 3, f),
			    "a reserved rate is more than the channels of the flow have left");
	f.reserved = 0;
	assert_null(kit_flow(&r, flows, 3, f));
	/* and all of them are kept */
	for (int i = 0; i < 500; i++) {
		for (uint32_t k = 0; k <= flows; k++)
			kit_ask(&r, k, k == flows ? 500000 : 4000);
		kit_run(&r, maps_due(r.m));
	}
	for (uint32_t i = 0; i < flows; i++)
		assert_true(kit_granted(&r, i) * 48 >= 500 * 2025 * 10 / 8 * 99 / 100);
	kit_free(&r);
}
