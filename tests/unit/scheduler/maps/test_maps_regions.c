/* SPDX-License-Identifier: BSD-3-Clause */
/* Regions of a MAP: for ranging, and for requests. */
#include "maps_rig.h"
#include "test.h"

#include <string.h>

static struct map last; /* of channel 0 */

static void keep(struct rig *r, uint32_t channel, const struct map *map) {
	(void)r;
	if (channel == 0)
		last = *map;
}

static void create(struct rig *r, struct maps_channel channel, uint32_t count) {
	struct maps_channel channels[RIG_CHANNELS];

	for (uint32_t i = 0; i < count; i++) {
		channels[i] = channel;
		channels[i].id = (uint8_t)(i + 1);
	}
	rig_create(r, channels, count, 100);
	r->on_map = keep;
	rig_run(r, MS(10));
}

/* The next round of MAPs, and no more. */
static void next_map(struct rig *r) {
	rig_run(r, maps_due(r->m));
}

static const struct map_element *find(uint16_t sid, uint8_t iuc) {
	for (uint32_t i = 0; i < last.count; i++)
		if (last.elements[i].sid == sid && last.elements[i].iuc == iuc)
			return &last.elements[i];
	return NULL;
}

static uint32_t length_of(const struct map_element *e) {
	return (uint32_t)e[1].offset - e->offset;
}

static const struct maps_flow best_effort = {.header_bytes = 8};

static void ranging_has_its_place(void **state) {
	struct maps_channel c = rig_sc_qam(1);
	uint64_t before, regions = 0;
	struct rig r;

	(void)state;
	c.initial_minislots = 40;
	c.initial_interval = (uint32_t)MS(100);
	c.station_minislots = 16;
	c.ranging_start = 1;
	c.ranging_end = 4;
	create(&r, c, 1);
	before = rig_counts(&r).initial_minislots;
	for (int i = 0; i < 500; i++) {
		next_map(&r);
		if (find(MAP_SID_BROADCAST, MAP_INITIAL) == NULL)
			continue;
		regions++;
		assert_int_equal(find(MAP_SID_BROADCAST, MAP_INITIAL)->offset, 0);
		assert_int_equal(length_of(find(MAP_SID_BROADCAST, MAP_INITIAL)), 40);
	}
	assert_int_equal(regions, 10); /* in a second */
	assert_int_equal(rig_counts(&r).initial_minislots - before, 400);
	for (uint16_t sid = 1; sid <= 20; sid++)
		assert_true(maps_station(r.m, 0, sid));
	next_map(&r);
	assert_int_equal(length_of(find(1, MAP_STATION)), 16);
	assert_non_null(find(6, MAP_STATION)); /* they begin in the first quarter */
	assert_null(find(7, MAP_STATION));
	assert_int_equal(last.ranging_start, 1);
	assert_int_equal(last.ranging_end, 4);
	for (int i = 0; i < 4; i++)
		next_map(&r);
	assert_int_equal(rig_counts(&r).station_minislots, 20 * 16);
	rig_free(&r);
}

/* What initial maintenance and requests leave of a MAP is as long as a station needs it. */
static void a_station_may_have_all_the_rest(void **state) {
	struct maps_channel c = rig_ofdma(1);
	struct rig r;

	(void)state;
	c.initial_minislots = 2000;
	c.initial_interval = (uint32_t)MS(100);
	c.station_minislots = 3525 - 8 - 2000;
	create(&r, c, 1);
	do {
		assert_true(maps_station(r.m, 0, 1));
		next_map(&r);
		assert_int_equal(length_of(find(1, MAP_STATION)), c.station_minislots);
	} while (find(MAP_SID_BROADCAST, MAP_INITIAL) == NULL);
	rig_free(&r);
}

static void too_many_stations_are_refused(void **state) {
	struct maps_channel c = rig_sc_qam(1);
	struct rig r;

	(void)state;
	create(&r, c, 1);
	assert_false(maps_station(r.m, 0, 1)); /* it has none */
	rig_free(&r);
	c.station_minislots = 10;
	create(&r, c, 1);
	assert_false(maps_station(r.m, 1, 1));
	assert_false(maps_station(r.m, 0, 0));
	assert_false(maps_station(r.m, 0, MAP_SID_BROADCAST));
	for (int i = 0; i < 256; i++)
		assert_true(maps_station(r.m, 0, 1));
	assert_false(maps_station(r.m, 0, 1));
	rig_free(&r);
}

static void idle_minislots_are_for_requests(void **state) {
	struct rig r;

	(void)state;
	create(&r, rig_ofdma(1), 1);
	assert_null(rig_flow(&r, 0, 1, best_effort));
	next_map(&r);
	assert_int_equal(length_of(find(MAP_SID_BROADCAST, MAP_REQUEST)), 3525);
	rig_ask(&r, 0, 48 * 1000 - 8);
	next_map(&r);
	assert_int_equal(length_of(find(MAP_SID_BROADCAST, MAP_REQUEST)), 2525);
	rig_ask(&r, 0, 1 << 20);
	next_map(&r);
	assert_int_equal(length_of(find(MAP_SID_BROADCAST, MAP_REQUEST)), 8);
	rig_free(&r);
}

/* It ends where a request is just in time for a MAP: 2 ms before the first minislot of one of 15 frames of 135 us, so
 * 25 us behind the first minislot of another; that is in its first frame, and so is the end of the MAP before. */
static void the_region_is_as_late_as_is_early_enough(void **state) {
	struct maps_channel c = rig_ofdma(1);
	struct rig r;

	(void)state;
	create(&r, c, 1);
	assert_null(rig_flow(&r, 0, 1, best_effort));
	rig_ask(&r, 0, 1 << 20);
	next_map(&r);
	assert_int_equal(find(MAP_SID_BROADCAST, MAP_REQUEST)->offset, 3525 - 8);
	rig_free(&r);
	c.ack_delay = 5 * 27648;
	create(&r, c, 1);
	for (uint32_t i = 0; i < 40; i++) {
		assert_null(rig_flow(&r, i, 1, best_effort));
		rig_ask(&r, i, 8192 - 8);
	}
	next_map(&r);
	assert_in_range(find(MAP_SID_BROADCAST, MAP_REQUEST)->offset, 2350 - 8 - 171, 2350 - 8);
	rig_free(&r);
}

static void contention_is_followed(void **state) {
	struct rig r;

	(void)state;
	create(&r, rig_ofdma(1), 1);
	assert_null(rig_flow(&r, 0, 1, best_effort));
	assert_int_equal(last.data_start, 2);
	maps_collisions(r.m, 0, 10); /* as if of 24 modems */
	rig_ask(&r, 0, 1 << 20);
	next_map(&r);
	assert_int_equal(last.data_start, 6);
	assert_int_equal(length_of(find(MAP_SID_BROADCAST, MAP_REQUEST)), 36);
	maps_collisions(r.m, 0, UINT32_MAX);
	next_map(&r);
	assert_int_equal(last.data_start, 10);
	assert_int_equal(length_of(find(MAP_SID_BROADCAST, MAP_REQUEST)), 3525 / 8);
	for (int i = 0; i < 100; i++) {
		rig_ask(&r, 0, 1 << 20);
		next_map(&r);
	}
	assert_int_equal(last.data_start, 2);
	assert_int_equal(length_of(find(MAP_SID_BROADCAST, MAP_REQUEST)), 8);
	for (int i = 0; i < 100; i++)
		maps_request(r.m,
			     &(struct maps_request){.flow = 0, .bytes = 1, .contended = i < 20},
			     r.now);
	next_map(&r);
	assert_int_equal(length_of(find(MAP_SID_BROADCAST, MAP_REQUEST)), 30);
	assert_int_equal(rig_counts(&r).collisions, 10 + (uint64_t)UINT32_MAX);
	rig_free(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ranging_has_its_place),
		cmocka_unit_test(a_station_may_have_all_the_rest),
		cmocka_unit_test(too_many_stations_are_refused),
		cmocka_unit_test(idle_minislots_are_for_requests),
		cmocka_unit_test(the_region_is_as_late_as_is_early_enough),
		cmocka_unit_test(contention_is_followed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
