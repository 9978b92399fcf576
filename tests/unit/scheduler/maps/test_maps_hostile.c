/* SPDX-License-Identifier: BSD-3-Clause */
/* Whatever comes: nothing is granted beyond bounds, and all bytes are accounted for. */
#include "maps_kit.h"
#include "random.h"
#include "test_main.h"

#include <string.h>

#define FLOWS 60
#define PATIENCE (2 * 15 * 27648) /* with a clock that goes back */

static void create(struct kit *r, uint32_t channels) {
	struct maps_channel all[KIT_CHANNELS];

	for (uint32_t i = 0; i < channels; i++) {
		all[i] = i % 2 == 0 ? kit_ofdma((uint8_t)(i + 1)) : kit_sc_qam((uint8_t)(i + 1));
		all[i].max_burst_minislots = 200;
		all[i].initial_minislots = 30;
		all[i].initial_interval = (uint32_t)MS(50);
		all[i].station_minislots = 9;
		all[i].slack = (uint32_t)US(300);
	}
	kit_create(r, all, channels, FLOWS);
	kit_run(r, MS(10));
}

static struct maps_flow some_flow(struct random *r) {
	return (struct maps_flow){
		.type = (enum maps_type)random_below(r, 6),
		.priority = (uint8_t)random_below(r, 8),
		.sustained = random_below(r, 2) ? 0 : random_between(r, 1, 50000000),
		.reserved = random_below(r, 4) ? 0 : random_below(r, 1000),
		.max_burst = random_below(r, 2) ? 0 : random_between(r, 128, 9000),
		.header_bytes = (uint16_t)random_below(r, 65),
		.poll_interval = (uint32_t)US(random_between(r, 7, 100000)),
		.grant_interval = (uint32_t)US(random_between(r, 7, 100000)),
		.grant_jitter =
			random_below(r, 5) ? (uint32_t)US(random_below(r, 3000)) : random_next(r),
		.grant_bytes = random_between(r, 1, 500),
		.grants = (uint8_t)random_between(r, 1, 4),
		.active_timeout = random_next(r),
		.guaranteed_rate = 1 + random_below(r, 9000000),
	};
}

static void throw_something(struct kit *r, struct random *random) {
	const struct maps_request q = {
		.flow = random_below(random, 3) ? random_below(random, FLOWS) : random_next(random),
		.cluster = (uint8_t)(random_below(random, 4) ? 0 : random_next(random)),
		.channel = (uint16_t)random_next(random),
		.bytes = random_next(random) >> random_below(random, 32),
		.minislot_at = (uint64_t)random_next(random) << random_below(random, 33),
		.contended = random_below(random, 2),
	};

	maps_request(r->m, &q,
		     random_below(random, 2) ? r->now : (uint64_t)random_next(random) << 32);
	if (random_below(random, 30) == 0)
		maps_station(r->m, random_below(random, 9), (uint16_t)random_next(random));
	if (random_below(random, 30) == 0)
		maps_collisions(r->m, random_below(random, 9), random_next(random));
	if (random_below(random, 30) == 0)
		maps_used(r->m, random_below(random, FLOWS + 5), random_next(random));
	if (random_below(random, 40) == 0)
		kit_flow(r, random_below(random, FLOWS + 5), random_below(random, 64),
			 some_flow(random));
}

/* A clock as it is not to be: stands, jumps, goes back. */
static void time_passes(struct kit *r, struct random *random, struct map *map) {
	uint64_t before = r->now;
	uint32_t channel;

	switch (random_below(random, 60)) {
	case 0: r->now += MS(random_below(random, 100000)); break;
	case 1: r->now -= r->now > MS(1000) ? MS(random_below(random, 1000)) : 0; break;
	case 2: r->now /= 2; break;
	case 3: break;
	default:
		r->now = maps_due(r->m) +
			 (random_below(random, 8) ? 0 : US(random_below(random, 500)));
	}
	if (r->now < before)
		memset(r->begun, 0, sizeof(r->begun));
	while ((channel = maps_make(r->m, r->now, map)) != MAPS_NONE)
		kit_check_map(r, channel, map);
	assert_in_range(maps_due(r->m), r->now + 1, r->now + PATIENCE);
}

TEST(anything_may_come) {
	static struct map map;
	static struct kit r;

	for (uint64_t seed = 1; seed <= 12; seed++) {
		struct random random = {seed * 0x9e3779b97f4a7c15};

		create(&r, 6);
		for (int i = 0; i < 2000; i++) {
			for (uint32_t n = random_below(&random, 40); n > 0; n--)
				throw_something(&r, &random);
			time_passes(&r, &random, &map);
			if (i % 100 == 0)
				kit_check_counts(&r);
		}
		for (uint32_t i = 0; i < 6; i++)
			for (uint32_t sid = 0; sid < KIT_SIDS; sid++)
				assert_true(r.longest[i][sid] <= 200);
		for (uint32_t i = 0; i < FLOWS; i++)
			kit_flow(&r, i, 0, (struct maps_flow){.priority = 0});
		kit_check_counts(&r);
		assert_int_equal(kit_counts(&r).owed_bytes, 0);
		kit_free(&r);
	}
}

TEST(late_maps_are_counted) {
	static struct map map;
	struct kit r;
	uint64_t due, maps;

	create(&r, 1);
	due = maps_due(r.m);
	maps = kit_counts(&r).maps;
	assert_int_equal(maps_make(r.m, due - 1, &map), MAPS_NONE);
	assert_int_equal(maps_make(r.m, due + US(300), &map), 0); /* within the slack */
	kit_check_map(&r, 0, &map);
	assert_int_equal(maps_make(r.m, due + US(300), &map), MAPS_NONE);
	assert_int_equal(kit_counts(&r).late, 0);
	due += 15 * 27648;
	assert_int_equal(maps_due(r.m), due);
	assert_int_equal(maps_make(r.m, due + US(300) + 1, &map), MAPS_NONE);
	assert_int_equal(kit_counts(&r).late, 1);
	assert_int_equal(maps_due(r.m), due + 15 * 27648);
	r.now = due + 100 * 15 * 27648; /* and many at once */
	kit_run(&r, r.now);
	assert_int_equal(kit_counts(&r).late, 1 + 99);
	assert_int_equal(kit_counts(&r).maps, maps + 2);
	r.now = maps_due(r.m) + US(300) + 3 * 15 * 27648; /* just within the slack of the fourth */
	kit_run(&r, r.now);
	assert_int_equal(kit_counts(&r).late, 1 + 99 + 3);
	kit_free(&r);
}

TEST(the_first_call_begins) {
	static struct map map;
	struct maps_channel c = kit_ofdma(1);
	struct kit r;

	kit_create(&r, &c, 1, 10);
	assert_null(kit_flow(&r, 0, 1,
			     (struct maps_flow){.type = MAPS_REAL_TIME_POLLING,
						.poll_interval = (uint32_t)MS(2)}));
	assert_int_equal(maps_make(r.m, MS(86400000), &map), MAPS_NONE);
	r.now = maps_due(r.m);
	assert_in_range(r.now, MS(86400000), MS(86400000) + 15 * 27648);
	kit_run(&r, r.now);
	assert_int_equal(kit_counts(&r).late, 0);
	assert_int_equal(kit_counts(&r).missed, 0);
	assert_int_equal(r.seen.maps, 1);
	kit_free(&r);
}

/* By more than is waited for: MAPs, grants without requests, what is owed and what waits for its rate go on from there. */
TEST(a_clock_that_goes_far_back_is_followed) {
	static const struct maps_flow ugs = {.type = MAPS_UNSOLICITED,
					     .grant_interval = (uint32_t)MS(5),
					     .grant_jitter = (uint32_t)MS(1),
					     .grant_bytes = 100,
					     .grants = 1};
	static struct map map;
	struct kit r;
	uint64_t grants, held;

	create(&r, 1);
	r.now = MS(3600000);
	kit_run(&r, r.now);
	assert_null(kit_flow(&r, 0, 1, (struct maps_flow){.sustained = 800000}));
	assert_null(kit_flow(&r, 1, 1, ugs));
	kit_ask(&r, 0, 10000); /* 100 ms, less what the bucket held */
	kit_run(&r, r.now + MS(20));
	held = kit_counts(&r).owed_bytes;
	assert_in_range(held, 1, 9000);
	memset(r.begun, 0, sizeof(r.begun));
	r.now = MS(100);
	assert_int_equal(maps_make(r.m, r.now, &map), MAPS_NONE);
	assert_in_range(maps_due(r.m), r.now, r.now + PATIENCE / 2);
	assert_int_equal(kit_counts(&r).owed_bytes, held);
	grants = kit_granted(&r, 1);
	kit_run(&r, r.now + MS(100));
	assert_int_equal(kit_counts(&r).owed_bytes, 0);
	assert_in_range(kit_granted(&r, 1) - grants, 19 * 3, 21 * 3); /* of three minislots */
	assert_int_equal(kit_counts(&r).missed + kit_counts(&r).belated, 0);
	kit_check_counts(&r);
	kit_free(&r);
}

/* The last of times is as good as any. */
TEST(time_has_an_end) {
	static struct map map;
	struct kit r;
	uint32_t channel, maps = 0;

	create(&r, 4);
	for (uint32_t i = 0; i < 20; i++)
		kit_flow(&r, i, 15,
			 (struct maps_flow){.type = (enum maps_type)(i % 6),
					    .poll_interval = (uint32_t)MS(10),
					    .grant_interval = (uint32_t)MS(10),
					    .grant_bytes = 100,
					    .grants = 1,
					    .guaranteed_rate = 1000,
					    .sustained = 1000});
	for (int i = 0; i < 3; i++) {
		kit_ask(&r, 0, 1000000);
		while ((channel = maps_make(r.m, UINT64_MAX, &map)) != MAPS_NONE)
			maps++;
	}
	assert_true(maps <= 4);
	assert_in_range(maps_due(r.m), UINT64_C(1) << 62, (UINT64_C(1) << 62) + MS(3));
	assert_true(kit_counts(&r).late > 1000000);
	kit_check_counts(&r);
	kit_free(&r);
}

TEST(late_requests_are_seen) {
	struct kit r;

	create(&r, 1);
	assert_null(kit_flow(&r, 0, 1, (struct maps_flow){.header_bytes = 8}));
	maps_request(r.m, &(struct maps_request){.bytes = 10, .minislot_at = r.now - MS(1)}, r.now);
	assert_int_equal(kit_counts(&r).late_requests, 0);
	maps_request(r.m, &(struct maps_request){.bytes = 10, .minislot_at = r.now - MS(8)}, r.now);
	maps_request(r.m, &(struct maps_request){.bytes = 10}, r.now);
	assert_int_equal(kit_counts(&r).late_requests, 1);
	kit_free(&r);
}
