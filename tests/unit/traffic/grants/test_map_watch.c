/* SPDX-License-Identifier: BSD-3-Clause */
/* MAPs with one fault each, of an SC-QAM channel with round numbers. */
#include "test_main.h"

#include "grants/map_watch.h"
#include "group_defaults.h"
#include "model/grants_times.h"
#include "pipeline/docsis_clock.h"

#define TICKS 2 /* of 6.25 us: a minislot is 2,560 samples */
#define REQUEST 4 /* minislots of an opportunity */

static struct upstream_channel channel = {
	.id = 3,
	.type = UPSTREAM_SC_QAM,
	.rate = 20000000,
	.session = 5,
	.grants = {.physical = {.minislot_ticks = TICKS, .burst_minislots = 2},
		   .contention = {.request_minislots = REQUEST,
				  .request_opportunities = 2,
				  .backoff_end = 6},
		   .maintenance = {.backoff_start = 1, .backoff_end = 2}},
};
static struct service_group sg = {
	.upstream = {.scheduled = true,
		     .scheduler = {.map_interval = 2000000,
				   .modem_processing = 200000,
				   .round_trip = 1600000}},
	.upstream_channels = &channel,
	.upstream_channel_count = 1,
};
static struct grants_times times;
static struct map_watch watch;
static struct map_watch_counts counts;
static struct map map;
static uint64_t now;

/* The first MAP has come, and another one without a fault is to come. */
static int begin(void **state) {
	service_group_defaults(&sg);
	times = grants_times_of(&sg.upstream.scheduler, &channel);
	watch = (struct map_watch){0};
	counts = (struct map_watch_counts){0};
	now = (uint64_t)7 << 32; /* counts have wrapped */
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

/* It has this fault, and no other; MAP_FAULTS: none. */
static void come(enum map_fault fault) {
	map_watch_check(&watch, &sg, 0, &map, now, &counts);
	for (int i = 0; i < MAP_FAULTS; i++) {
		if (counts.faults[i] != (i == (int)fault))
			fail_msg("%s, not %s: %lu", map_fault_names[i],
				 fault < MAP_FAULTS ? map_fault_names[fault] : "none",
				 (unsigned long)counts.faults[i]);
	}
}

static void shift(int minislots) {
	map.alloc_start += (uint32_t)minislots;
	map.ack_time += (uint32_t)minislots;
}

#define FINDS(fault, ...)          \
	do {                       \
		begin(NULL);       \
		__VA_ARGS__;       \
		come(MAP_##fault); \
	} while (0)

TEST(each_fault_is_found) {
	FINDS(FAULTS, (void)0);
	assert_int_equal(counts.skipped, 0);
	FINDS(FAULT_OVERLAP, shift(-1));
	FINDS(FAULT_GAP, shift(1));
	FINDS(FAULT_LENGTH, map.elements[3].offset++);
	FINDS(FAULT_ACK, map.ack_time++);
	FINDS(FAULT_BACK_OFF, map.data_end++);
	FINDS(FAULT_BACK_OFF, map.ranging_start++);
	FINDS(FAULT_BACK_OFF, map.ranging_end++);
	FINDS(FAULT_BACK_OFF, map.data_start = 2);
	FINDS(FAULTS, map.data_start = 3); /* fewer contend */
	FINDS(FAULT_REQUESTS, map.elements[1].offset--);
	/* Preamble and guard time. */
	FINDS(FAULT_GRANT, map.elements[2].offset = 2 * REQUEST + 2);
	FINDS(FAULT_GRANT, map.elements[2] = (struct map_element){
				   7, (uint16_t)(times.minislots - 2), MAP_SHORT});
}

TEST(maps_that_are_left_out_are_counted) {
	shift(2 * (int)times.minislots);
	now += 2 * times.interval;
	come(MAP_FAULTS);
	assert_int_equal(counts.skipped, 2);
}

TEST(ack_times_do_not_go_back) {
	come(MAP_FAULTS);
	shift((int)times.minislots);
	map.ack_time--;
	now += times.interval;
	come(MAP_FAULT_ACK);
}

TEST(a_map_may_be_early_once_as_the_clock_may_jump) {
	now -= grants_samples(DOCSIS_CLOCK_JUMP_NS);
	come(MAP_FAULTS);
	shift((int)times.minislots);
	now += times.interval - times.frame;
	come(MAP_FAULT_EARLY);
}

EACH_TEST(begin, NULL)
