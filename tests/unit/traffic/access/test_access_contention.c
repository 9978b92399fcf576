/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests access.h: contention regions, back-off windows, collisions, and the limit of tries. */
#include "access_kit.h"
#include "test_main.h"

#define FLOWS 512

TEST(single_request_succeeds) {
	access_queue(kit.access, 0, 77, 0);
	kit_send_contention(0, 2, 6, 20, 10, 40);
	kit_expect(24, {ACCESS_REQUEST, .request = 77});
	assert_in_range(kit.events[0].minislot, 200, 203); /* in a window of 2^2 */
	assert_int_equal(kit.events[0].time, frame_time(20) - PROPAGATION - BURST_PROCESSING);
	assert_int_equal(kit.events[0].end, frame_time(21));
	assert_int_equal(kit.events[0].iuc, MAP_REQUEST);
}

/* A flow that gets bytes in the middle of a region skips opportunities that are too near. */
TEST(late_request_uses_rest_of_region) {
	kit_send_contention(0, 2, 6, 20, 10, 100);
	kit_run(frame_time(23));
	access_queue(kit.access, 0, 77, kit.now + 1);
	assert_int_equal(kit_run(frame_time(30)), 1);
	/* a burst is decided two frames ahead, here after frame 23 */
	assert_in_range(kit.events[0].minislot, 250, 253);
}

TEST(requests_in_one_opportunity_collide) {
	kit_restart(1, 3);
	kit_send_contention(0, 0, 0, 20, 10, 20);
	access_queue(kit.access, 0, 77, 0);
	access_queue(kit.access, 2, 78, 0);
	kit_expect(24, {ACCESS_COLLISION, .request = 2});
	assert_int_equal(kit.events[0].flow, 0);
	assert_int_equal(kit.events[0].minislot, 200);
	assert_int_equal(kit_counts().contention, 2);
	assert_int_equal(kit_counts().collided, 2);
	assert_int_equal(kit_counts().collisions, 1);
}

/* Two flows always collide. Each gives up after 16 tries, which is one event, and continues. */
TEST(flow_gives_up_after_16_tries) {
	unsigned collisions = 0, given_up[2] = {0};

	kit_restart(1, 2);
	kit_send_contention(0, 0, 0, 20, 10, 1);
	kit_queue_all(77);
	for (uint32_t frame = 30; frame < 30 + 20 * 20; frame += 20) {
		kit_send_contention(0, 0, 0, frame, frame - 8, 1);
		kit_run(frame_time(frame + 12)); /* up to the next MAP */
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
	access_discard(kit.access, 1, 100); /* more than is queued */
	assert_int_equal(kit_counts().discarded, 2 * 77);
}

/* Collisions of two flows until one gives up; both get grants after `granted` ones, if not 0. */
static unsigned collisions_until_given_up(unsigned granted) {
	unsigned collisions = 0;

	kit_restart(1, 2);
	for (uint32_t frame = 30;; frame += 20) {
		if (collisions == granted && granted > 0) {
			kit_map(frame, frame - 8, {100, DATA, 9}, {101, DATA, 9}, {CONTENTION, 1});
			granted = 0;
		} else {
			kit_map(frame, frame - 8, {CONTENTION, 1});
		}
		kit.map.data_start = kit.map.data_end = 0;
		kit_send(0);
		kit_queue_all(10);
		kit_run(frame_time(frame + 12));
		for (unsigned i = 0; i < kit.count; i++) {
			if (kit.events[i].kind == ACCESS_GIVEN_UP)
				return collisions;
			collisions += kit.events[i].kind == ACCESS_COLLISION;
		}
	}
}

TEST(grant_resets_tries) {
	assert_int_equal(collisions_until_given_up(0), ACCESS_TRIES);
	assert_in_range(collisions_until_given_up(5), 4 + ACCESS_TRIES, 6 + ACCESS_TRIES);
}

/* The back-off window after failed tries, in opportunities. `used`: opportunities with requests. */
static uint32_t back_off_window(unsigned tries, unsigned *used) {
	static bool seen[8192];
	uint32_t last = 0, frame = 20;

	*used = 0;
	memset(seen, 0, sizeof(seen));
	kit_restart(1, FLOWS);
	kit_send_contention(0, 4, 7, frame, 10, 130);
	kit_queue_all(77);
	for (unsigned i = 0; i <= tries; i++, frame += 30) {
		assert_true(kit_run(frame_time(frame + 14)) > 1);
		kit_send_contention(0, 4, 7, frame + 30, frame + 14, 130);
	}
	for (unsigned i = 0; i < kit.count; i++) {
		uint32_t opportunity = kit.events[i].minislot - (frame - 30) * MINISLOTS;

		last = opportunity > last ? opportunity : last;
		*used += !seen[opportunity];
		seen[opportunity] = true;
	}
	return last + 1;
}

TEST(back_off_window_doubles_up_to_limit) {
	static const uint32_t windows[] = {16, 32, 64, 128, 128, 128};
	unsigned used;

	for (unsigned tries = 0; tries < ARRAY_COUNT(windows); tries++) {
		assert_int_equal(back_off_window(tries, &used), windows[tries]);
		assert_in_range(used, tries < 2 ? windows[tries] : windows[tries] - 8,
				windows[tries]);
	}
}

TEST(window_covers_all_channels) {
	unsigned requests_on[2] = {0};

	kit_restart(2, FLOWS);
	kit_send_contention(0, 2, 6, 20, 10, 100);
	kit.map.data_start = 4;
	kit_send(1);
	kit_queue_all(77);
	assert_int_equal(kit_run(frame_time(26)), 16);
	for (unsigned i = 0; i < kit.count; i++) {
		assert_in_range(kit.events[i].minislot, 200, 209);
		requests_on[kit.events[i].channel]++;
	}
	assert_int_equal(requests_on[0], 10);
	assert_int_equal(requests_on[1], 6);
}

TEST(widest_window_of_channels_applies) {
	kit_restart(2, FLOWS);
	kit_send_contention(0, 4, 6, 20, 10, 100);
	kit_send_contention(1, 1, 6, 20, 10, 100);
	kit_queue_all(77);
	assert_int_equal(kit_run(frame_time(26)), 16);
}

/* Flows with different sets of channels share opportunities: each has one event for all flows. */
TEST(channel_sets_share_opportunities) {
	unsigned seen[100] = {0};

	kit_restart(2, FLOWS);
	for (uint16_t i = 0; i < FLOWS; i += 2) {
		struct access_sid one = {1, (uint16_t)(100 + i)};

		kit_set_flow(i, (struct access_flow){.sids = &one, .sid_count = 1});
	}
	kit_send_contention(1, 6, 6, 20, 10, 100);
	kit_queue_all(77);
	assert_int_equal(kit_run(frame_time(30)), 64);
	for (unsigned i = 0; i < kit.count; i++)
		assert_int_equal(seen[kit.events[i].minislot - 200]++, 0);
	assert_int_equal(kit_counts().contention, FLOWS);
}

TEST(unused_regions_are_freed) {
	for (uint32_t frame = 20; frame < 3020; frame++) {
		kit_run(frame_time(frame) - MAP_LEAD);
		kit_send_contention(0, 2, 6, frame, frame - 10, 10);
	}
	access_queue(kit.access, 0, 40, kit.now);
	assert_int_equal(kit_run(frame_time(3020)), 1);
	assert_in_range(kit.events[0].at, kit.now - MAP_LEAD, kit.now);
}

TEST(nearest_grant_prevents_contention) {
	for (unsigned no_piggyback = 0; no_piggyback < 2; no_piggyback++) {
		kit_restart(2, 1);
		kit_set_flow(0, (struct access_flow){.header_bytes = HEADER,
						     .outstanding = 4,
						     .patience = 6 * FRAME,
						     .no_piggyback = no_piggyback == 1});
		access_queue(kit.access, 0, 5000, 0);
		kit_map(40, 10, {100, DATA, 5});
		kit_send_at(0, 0);
		kit_map(20, 10, {CONTENTION, 10}, {0, DATA, 30}, {100, DATA, 5});
		kit_send_at(1, 0);
		kit_run(frame_time(24));
		assert_int_equal(kit_counts().contention, no_piggyback);
		assert_int_equal(kit_counts().piggybacks, 1 - no_piggyback);
	}
}

TEST(no_contention_while_grant_is_near) {
	for (unsigned hasty = 0; hasty < 2; hasty++) {
		kit_restart(1, 2);
		kit_set_flow(0, (struct access_flow){.header_bytes = HEADER,
						     .outstanding = 4,
						     .patience = 10 * FRAME - hasty});
		kit_set_flow(1, (struct access_flow){.no_contention = true});
		kit_send_map(0, 20, 10, {CONTENTION, 40}, {0, DATA, 60}, {100, DATA, 1});
		kit_queue_all(500);
		assert_int_equal(kit_run(frame_time(44)), 1 + hasty);
		assert_int_equal(kit.events[0].kind, hasty ? ACCESS_REQUEST : ACCESS_BURST);
		assert_int_equal(kit.events[0].request, 500 - (MINISLOT_BYTES - HEADER));
		assert_int_equal(kit.events[hasty].kind, ACCESS_BURST);
		assert_int_equal(kit_counts().contention, hasty);
	}
	assert_int_equal(kit.events[1].request, 0);
}

EACH_TEST(kit_set_up, kit_tear_down)
