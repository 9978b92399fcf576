/* SPDX-License-Identifier: BSD-3-Clause */
/* MAPs of the upstream scheduler, and what buckets hold, counted by hand. The model makes all other MAPs. */
#include "maps_kit.h"
#include "scheduler/maps/bucket.h"
#include "test_main.h"

static const struct maps_flow best_effort = {.header_bytes = 8};

TEST(a_request_is_granted_in_the_next_map) {
	struct kit k;

	kit_create_alike(&k, kit_ofdma(1), 1, 100);
	assert_null(kit_flow(&k, 4, 1, best_effort));
	assert_int_equal(kit_ask(&k, 4, 1000), MAPS_TAKEN);
	kit_next(&k);
	assert_int_equal(kit_find(&k, 5, MAP_PROFILE_13)->offset, 0);
	assert_int_equal(kit_length(&k, 5, MAP_PROFILE_13), 1008 / 48);
	assert_int_equal(kit_length(&k, MAP_SID_BROADCAST, MAP_REQUEST), 15 * 235 - 1008 / 48);
	assert_int_equal(kit_counts(&k).granted_bytes, 1000);
	assert_int_equal(kit_counts(&k).owed_bytes, 0);
	kit_next(&k);
	assert_null(kit_find(&k, 5, MAP_PROFILE_13));
	kit_free(&k);
}

/* What initial maintenance and requests leave of a MAP is as long as a station needs it. */
TEST(a_station_may_have_all_the_rest) {
	struct maps_channel c = kit_ofdma(1);
	struct kit k;

	c.initial_minislots = 2000;
	c.initial_interval = (uint32_t)MS(100);
	c.station_minislots = 3525 - 8 - 2000;
	kit_create_alike(&k, c, 1, 100);
	do {
		assert_true(maps_station(k.m, 0, 1));
		kit_next(&k);
		assert_int_equal(kit_length(&k, 1, MAP_STATION), c.station_minislots);
	} while (kit_find(&k, MAP_SID_BROADCAST, MAP_INITIAL) == NULL);
	kit_free(&k);
}

/* It ends where a request is just in time for a MAP: 2 ms before the first minislot of one of 15 frames of 135 us, so
 * 25 us behind the first minislot of another; that is in its first frame, and so is the end of the MAP before. */
TEST(the_region_is_as_late_as_is_early_enough) {
	struct maps_channel c = kit_ofdma(1);
	struct kit k;

	kit_create_alike(&k, c, 1, 100);
	assert_null(kit_flow(&k, 0, 1, best_effort));
	kit_ask(&k, 0, 1 << 20);
	kit_next(&k);
	assert_int_equal(kit_find(&k, MAP_SID_BROADCAST, MAP_REQUEST)->offset, 3525 - 8);
	kit_free(&k);
	c.ack_delay = 5 * 27648;
	kit_create_alike(&k, c, 1, 100);
	for (uint32_t i = 0; i < 40; i++) {
		assert_null(kit_flow(&k, i, 1, best_effort));
		kit_ask(&k, i, 8192 - 8);
	}
	kit_next(&k);
	assert_in_range(kit_find(&k, MAP_SID_BROADCAST, MAP_REQUEST)->offset, 2350 - 8 - 171,
			2350 - 8);
	kit_free(&k);
}

TEST(contention_is_followed) {
	struct kit k;

	kit_create_alike(&k, kit_ofdma(1), 1, 100);
	assert_null(kit_flow(&k, 0, 1, best_effort));
	assert_int_equal(k.last.data_start, 2);
	maps_collisions(k.m, 0, 10); /* as if of 24 modems */
	kit_ask(&k, 0, 1 << 20);
	kit_next(&k);
	assert_int_equal(k.last.data_start, 6);
	assert_int_equal(kit_length(&k, MAP_SID_BROADCAST, MAP_REQUEST), 36);
	maps_collisions(k.m, 0, UINT32_MAX);
	kit_next(&k);
	assert_int_equal(k.last.data_start, 10);
	assert_int_equal(kit_length(&k, MAP_SID_BROADCAST, MAP_REQUEST), 3525 / 8);
	for (int i = 0; i < 100; i++) {
		kit_ask(&k, 0, 1 << 20);
		kit_next(&k);
	}
	assert_int_equal(k.last.data_start, 2);
	assert_int_equal(kit_length(&k, MAP_SID_BROADCAST, MAP_REQUEST), 8);
	assert_int_equal(kit_counts(&k).collisions, 10 + (uint64_t)UINT32_MAX);
	kit_free(&k);
}

/* Also when rate by time is more than a number holds. */
TEST(buckets_are_full_in_time) {
	struct bucket b = bucket_of(1000, 100, 5);

	assert_int_equal(bucket_bytes(&b), 100);
	bucket_take(&b, 5, 60);
	assert_int_equal(bucket_bytes(&b), 40);
	assert_int_equal(bucket_when(&b, 41), 5 + MAPS_HZ / 125);
	bucket_fill(&b, bucket_when(&b, 41) - 1);
	assert_int_equal(bucket_bytes(&b), 40);
	bucket_fill(&b, 5 + MAPS_HZ / 125);
	assert_int_equal(bucket_bytes(&b), 41);
	bucket_take(&b, b.at, 1000); /* debts end */
	assert_int_equal(b.tokens, -b.depth);
	assert_int_equal(bucket_bytes(&b), 0);
	assert_int_equal(bucket_when(&b, 0), b.at + 100 * (MAPS_HZ / 125));
	bucket_fill(&b, 1); /* back */
	assert_int_equal(b.tokens, -b.depth);
	bucket_fill(&b, b.at + b.fill - 1);
	assert_int_equal(bucket_bytes(&b), 100);
	bucket_take(&b, b.at, 200);
	bucket_fill(&b, UINT64_MAX);
	assert_int_equal(b.tokens, b.depth);
}
