/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests in contention: windows, collisions, tries, and who stays out of it. */
#include "access_kit.h"
#include "test_main.h"

/* Opportunities for all, in a window from 2^start to 2^end. */
static void send_region(uint16_t channel, uint32_t frame, uint32_t ack, uint16_t minislots) {
	kit_map(frame, ack);
	kit_element(MAP_SID_BROADCAST, MAP_REQUEST, minislots);
	kit_end();
	kit_send(channel);
}

TEST(alone_it_is_heard) {
	access_queue(kit.access, 0, 77, 0);
	send_region(0, 20, 10, 40);
	assert_int_equal(kit_run(kit_at(24)), 1);
	assert_int_equal(kit.events[0].kind, ACCESS_REQUEST);
	assert_int_equal(kit.events[0].request, 77);
	assert_in_range(kit.events[0].minislot, 200, 203); /* in a window of 2^2 */
	assert_int_equal(kit.events[0].time, kit_at(20) - PROPAGATION - BURST);
	assert_int_equal(kit.events[0].end, kit_at(21));
	assert_int_equal(kit.events[0].iuc, MAP_REQUEST);
}

/* Opportunities that nobody can decide of any more are passed over, in the middle of a region too. */
TEST(it_comes_in_the_middle_of_a_region) {
	send_region(0, 20, 10, 100);
	kit_run(kit_at(23));
	access_queue(kit.access, 0, 77, kit.now + 1);
	assert_int_equal(kit_run(kit_at(30)), 1);
	assert_in_range(kit.events[0].minislot, 250,
			253); /* filled two frames before, and after frame 23 */
}

static void with_window(uint8_t start, uint8_t end, uint32_t frame, uint32_t ack,
			uint16_t minislots) {
	kit_map(frame, ack);
	kit.map.data_start = start;
	kit.map.data_end = end;
	kit_element(MAP_SID_BROADCAST, MAP_REQUEST, minislots);
	kit_end();
	kit_send(0);
}

TEST(two_in_one_opportunity_collide) {
	kit_restart(1, 3);
	with_window(0, 0, 20, 10, 20);
	access_queue(kit.access, 0, 77, 0);
	access_queue(kit.access, 2, 78, 0);
	assert_int_equal(kit_run(kit_at(24)), 1);
	assert_int_equal(kit.events[0].kind, ACCESS_COLLISION);
	assert_int_equal(kit.events[0].request, 2);
	assert_int_equal(kit.events[0].flow, 0);
	assert_int_equal(kit.events[0].minislot, 200);
	assert_int_equal(kit_counts().contention, 2);
	assert_int_equal(kit_counts().collided, 2);
	assert_int_equal(kit_counts().collisions, 1);
}

/* Two that always meet: each gives up after 16 tries, is told of it once, and goes on. */
TEST(tries_have_an_end) {
	unsigned collisions = 0, given_up[2] = {0};

	kit_restart(1, 2);
	with_window(0, 0, 20, 10, 1);
	access_queue(kit.access, 0, 77, 0);
	access_queue(kit.access, 1, 77, 0);
	for (uint32_t frame = 30; frame < 30 + 20 * 20; frame += 20) {
		with_window(0, 0, frame, frame - 8, 1);
		kit_run(kit_at(frame + 12)); /* until the next MAP */
		for (unsigned i = 0; i < kit.count; i++) {
			collisions += kit.events[i].kind == ACCESS_COLLISION;
			if (kit.events[i].kind == ACCESS_GIVEN_UP && collisions == ACCESS_TRIES)
				given_up[kit.events[i].flow]++;
		}
	}
	assert_int_equal(given_up[0], 1);
	assert_int_equal(given_up[1], 1);
	assert_true(collisions > ACCESS_TRIES);
	assert_int_equal(kit_counts().given_up, 2);
	access_discard(kit.access, 0, 77);
	assert_int_equal(access_waiting(kit.access, 0), 0);
	access_discard(kit.access, 1, 100); /* no more than there is */
	assert_int_equal(kit_counts().discarded, 2 * 77);
}

#define MANY 512

/* The opportunities that `MANY` flows use in a try, after `tries` in vain. */
static uint32_t widest(unsigned tries, unsigned *used) {
	static bool seen[8192];
	uint32_t most = 0, frame = 20;

	*used = 0;
	memset(seen, 0, sizeof(seen));
	kit_restart(1, MANY);
	with_window(4, 7, frame, 10, 130);
	for (uint32_t i = 0; i < MANY; i++)
		access_queue(kit.access, i, 77, 0);
	for (unsigned i = 0; i <= tries; i++, frame += 30) {
		assert_true(kit_run(kit_at(frame + 14)) > 1);
		with_window(4, 7, frame + 30, frame + 14, 130);
	}
	for (unsigned i = 0; i < kit.count; i++) {
		uint32_t at = kit.events[i].minislot - (frame - 30) * IN_FRAME;

		most = at > most ? at : most;
		*used += !seen[at];
		seen[at] = true;
	}
	return most + 1;
}

TEST(windows_double_and_are_truncated) {
	unsigned used;

	assert_int_equal(widest(0, &used), 16);
	assert_int_equal(used, 16);
	assert_int_equal(widest(1, &used), 32);
	assert_int_equal(used, 32);
	assert_int_equal(widest(2, &used), 64);
	assert_int_equal(widest(3, &used), 128);
	assert_true(used > 120);
	assert_int_equal(widest(5, &used), 128);
}

/* All channels' opportunities count, in the order of time: a window of 20 is over after a frame of two channels. */
TEST(opportunities_count_over_channels) {
	unsigned on[2] = {0};

	kit_restart(2, MANY);
	send_region(0, 20, 10, 100);
	kit.map.data_start = 4;
	kit_send(1);
	for (uint32_t i = 0; i < MANY; i++)
		access_queue(kit.access, i, 77, 0);
	kit_run(kit_at(26));
	assert_int_equal(kit.count, 16);
	for (unsigned i = 0; i < kit.count; i++) {
		assert_in_range(kit.events[i].minislot, 200, 209);
		on[kit.events[i].channel]++;
	}
	assert_int_equal(on[0], 10);
	assert_int_equal(on[1], 6);
}

/* The window is the widest that any of the channels has. */
TEST(the_widest_window) {
	kit_restart(2, MANY);
	for (uint16_t channel = 0; channel < 2; channel++) {
		kit_map(20, 10);
		kit.map.data_start = channel == 0 ? 4 : 1;
		kit_element(MAP_SID_BROADCAST, MAP_REQUEST, 100);
		kit_end();
		kit_send(channel);
	}
	for (uint32_t i = 0; i < MANY; i++)
		access_queue(kit.access, i, 77, 0);
	assert_int_equal(kit_run(kit_at(26)), 16);
}

/* Flows with other channels meet each other on those that they share. */
TEST(groups_meet) {
	struct access_sid one = {1, 100};

	kit_restart(2, 2);
	kit_flow(0, (struct access_flow){.sids = &one, .sid_count = 1});
	kit_map(20, 10);
	kit.map.data_start = kit.map.data_end = 0;
	kit_element(MAP_SID_BROADCAST, MAP_REQUEST, 5);
	kit_end();
	kit_send(1);
	access_queue(kit.access, 0, 10, 0);
	access_queue(kit.access, 1, 10, 0);
	assert_int_equal(kit_run(kit_at(22)), 1);
	assert_int_equal(kit.events[0].kind, ACCESS_COLLISION);
	assert_int_equal(kit.events[0].channel, 1);
}

/* Each opportunity has one event, whosever the flows in it are. */
TEST(groups_share_opportunities) {
	unsigned seen[100] = {0};

	kit_restart(2, MANY);
	for (uint16_t i = 0; i < MANY; i += 2) {
		struct access_sid one = {1, (uint16_t)(100 + i)};

		kit_flow(i, (struct access_flow){.sids = &one, .sid_count = 1});
	}
	kit_map(20, 10);
	kit.map.data_start = 6;
	kit_element(MAP_SID_BROADCAST, MAP_REQUEST, 100);
	kit_end();
	kit_send(1);
	for (uint32_t i = 0; i < MANY; i++)
		access_queue(kit.access, i, 77, 0);
	kit_run(kit_at(30));
	assert_int_equal(kit.count, 64);
	for (unsigned i = 0; i < kit.count; i++)
		assert_int_equal(seen[kit.events[i].minislot - 200]++, 0);
	assert_int_equal(kit_counts().contention, MANY);
}

/* Of regions that nobody uses only so many are remembered, the latest. */
TEST(unused_regions_are_forgotten) {
	for (uint32_t frame = 20; frame < 3020; frame++) {
		kit_run(kit_at(frame) - HEARD);
		send_region(0, frame, frame - 10, 10);
	}
	access_queue(kit.access, 0, 40, kit.now);
	assert_int_equal(kit_run(kit_at(3020)), 1);
	assert_in_range(kit.events[0].at, kit.now - HEARD, kit.now);
}

EACH_TEST(kit_begin, kit_finish)
