/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests map_watch.h: MAPs of an SC-QAM channel with one fault each. */
#include "test_main.h"

#include "grants/map_watch.h"
#include "group_defaults.h"
#include "model/grants_times.h"
#include "pipeline/docsis_clock.h"

#define TICKS 2 /* of 6.25 us: a minislot has 2,560 samples of the DOCSIS clock (204.8 MHz) */
#define REQUEST 4 /* minislots per request opportunity */

static struct upstream_channel channel = {
	.id = 3,
	.type = UPSTREAM_SC_QAM,
	.rate = 20000000, /* bit/s */
	.session = 5,
	.grants = {.physical = {.minislot_ticks = TICKS, .burst_minislots = 2},
		   .contention = {.request_minislots = REQUEST,
				  .request_opportunities = 2,
				  .backoff_end = 6},
		   .maintenance = {.backoff_start = 1, .backoff_end = 2}},
};
static struct service_group sg = {
	.upstream = {.scheduled = true,
		     .scheduler = {.map_interval = 2000000, /* ns, as all times */
				   .modem_processing = 200000,
				   .round_trip = 1600000}},
	.upstream_channels = &channel,
	.upstream_channel_count = 1,
};
static struct grants_times times;
static struct map_watch watch;
static struct map_watch_counts counts;
static struct map map;
static uint64_t now; /* samples of the DOCSIS clock: when `map` arrives */

#define MAP_NO_FAULT MAP_FAULTS

/* Checks a first MAP. Prepares the next one, `map`, without a fault and on time at `now`. */
static int set_up(void **state) {
	service_group_set_defaults(&sg);
	times = grants_times_of(&sg.upstream.scheduler, &channel);
	watch = (struct map_watch){0};
	counts = (struct map_watch_counts){0};
	now = ((uint64_t)7 << 32) * times.frame; /* minislots: 32-bit numbers have wrapped */
	map = (struct map){
		.version = 1,
		.channel = 3,
		.alloc_start = (uint32_t)((now + times.lead) / times.frame),
		.ranging_start = 1,
		.ranging_end = 2,
		.data_start = 4,
		.data_end = 6,
		.count = 4,
		.elements = {{MAP_SID_BROADCAST, 0, MAP_REQUEST},
			     {7, 2 * REQUEST, MAP_SHORT},
			     {0, 20, MAP_REQUEST},
			     {0, (uint16_t)times.minislots, MAP_NULL}},
	};
	map.ack_time = map.alloc_start - (times.ack_delay + times.frame - 1) / times.frame;
	assert_int_equal(map_check(&map), MAP_OK);
	map_watch_check(&watch, &sg, 0, &map, now, &counts);
	map.alloc_start += times.minislots;
	map.ack_time += times.minislots;
	now += times.interval;
	return 0;
}

/* Checks `map`. Fails unless it has exactly this fault, or none with MAP_NO_FAULT. */
static void assert_fault(enum map_fault fault) {
	map_watch_check(&watch, &sg, 0, &map, now, &counts);
	for (int i = 0; i < MAP_FAULTS; i++) {
		if (counts.faults[i] != (i == (int)fault))
			fail_msg("fault %s found %lu times, expected fault: %s", map_fault_names[i],
				 (unsigned long)counts.faults[i],
				 fault < MAP_FAULTS ? map_fault_names[fault] : "none");
	}
}

/* Moves start and ack time of `map`. */
static void shift(int minislots) {
	map.alloc_start += (uint32_t)minislots;
	map.ack_time += (uint32_t)minislots;
}

/* Prepares `map`, makes the changes, and checks for exactly this fault. */
#define ASSERT_FAULT(fault, ...)           \
	do {                               \
		set_up(NULL);              \
		__VA_ARGS__;               \
		assert_fault(MAP_##fault); \
	} while (0)

TEST(each_fault_is_detected) {
	ASSERT_FAULT(NO_FAULT, (void)0);
	assert_int_equal(counts.skipped, 0);
	ASSERT_FAULT(FAULT_OVERLAP, shift(-1));
	ASSERT_FAULT(FAULT_GAP, shift(1));
	ASSERT_FAULT(FAULT_LENGTH, map.elements[3].offset++);
	ASSERT_FAULT(FAULT_ACK, map.ack_time++);
	ASSERT_FAULT(FAULT_BACK_OFF, map.data_end++);
	ASSERT_FAULT(FAULT_BACK_OFF, map.ranging_start++);
	ASSERT_FAULT(FAULT_BACK_OFF, map.ranging_end++);
	ASSERT_FAULT(FAULT_BACK_OFF, map.data_start = 2);
	/* more than configured: allowed while many modems contend */
	ASSERT_FAULT(NO_FAULT, map.data_start = 3);
	ASSERT_FAULT(FAULT_REQUESTS, map.elements[1].offset--);
	/* not longer than preamble and guard time (`burst_minislots`) */
	ASSERT_FAULT(FAULT_GRANT, map.elements[2].offset = 2 * REQUEST + 2);
	ASSERT_FAULT(FAULT_GRANT, map.elements[2] = (struct map_element){
					  7, (uint16_t)(times.minislots - 2), MAP_SHORT});
}

/* The CMTS may skip whole MAPs. */
TEST(skipped_maps_are_counted) {
	shift(2 * (int)times.minislots);
	now += 2 * times.interval;
	assert_fault(MAP_NO_FAULT);
	assert_int_equal(counts.skipped, 2);
}

TEST(decreasing_ack_time_is_a_fault) {
	assert_fault(MAP_NO_FAULT);
	shift((int)times.minislots);
	map.ack_time--;
	now += times.interval;
	assert_fault(MAP_FAULT_ACK);
}

/* Clocks of two programs differ by up to DOCSIS_CLOCK_JUMP_NS. */
TEST(map_may_be_early_by_a_clock_jump) {
	now -= grants_samples(DOCSIS_CLOCK_JUMP_NS);
	assert_fault(MAP_NO_FAULT);
	shift((int)times.minislots);
	now += times.interval - times.frame;
	assert_fault(MAP_FAULT_EARLY);
}

EACH_TEST(set_up, NULL)
