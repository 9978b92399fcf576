/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests in contention: windows, collisions, tries, and who stays out of it. */
#include "access_kit.h"
#include "test_main.h"

#define MANY 512

TEST(alone_it_is_heard) {
	access_queue(kit.access, 0, 77, 0);
	kit_window(0, 2, 6, 20, 10, 40);
	kit_comes(24, {ACCESS_REQUEST, .request = 77});
	assert_in_range(kit.events[0].minislot, 200, 203); /* in a window of 2^2 */
	assert_int_equal(kit.events[0].time, kit_at(20) - PROPAGATION - BURST);
	assert_int_equal(kit.events[0].end, kit_at(21));
	assert_int_equal(kit.events[0].iuc, MAP_REQUEST);
}

/* Opportunities that nobody can decide of any more are passed over, in the middle of a region too. */
TEST(it_comes_in_the_middle_of_a_region) {
	kit_window(0, 2, 6, 20, 10, 100);
	kit_run(kit_at(23));
	access_queue(kit.access, 0, 77, kit.now + 1);
	assert_int_equal(kit_run(kit_at(30)), 1);
	/* filled two frames before, and after frame 23 */
	assert_in_range(kit.events[0].minislot, 250, 253);
}

TEST(two_in_one_opportunity_collide) {
	kit_restart(1, 3);
	kit_window(0, 0, 0, 20, 10, 20);
	access_queue(kit.access, 0, 77, 0);
	access_queue(kit.access, 2, 78, 0);
	kit_comes(24, {ACCESS_COLLISION, .request = 2});
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
	kit_window(0, 0, 0, 20, 10, 1);
	kit_queue_all(77);
	for (uint32_t frame = 30; frame < 30 + 20 * 20; frame += 20) {
		kit_window(0, 0, 0, frame, frame - 8, 1);
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

/* Collisions of two flows, each MAP with one opportunity, until one gives up; at `granted` both get a grant. */
static unsigned until_given_up(unsigned granted) {
	unsigned collisions = 0;

	kit_restart(1, 2);
	for (uint32_t frame = 30;; frame += 20) {
		if (collisions == granted && granted > 0) {
			kit_map(frame, frame - 8, {100, DATA, 9}, {101, DATA, 9}, {FOR_ALL, 1});
			granted = 0;
		} else {
			kit_map(frame, frame - 8, {FOR_ALL, 1});
		}
		kit.map.data_start = kit.map.data_end = 0;
		kit_send(0);
		kit_queue_all(10);
		kit_run(kit_at(frame + 12));
		for (unsigned i = 0; i < kit.count; i++) {
			if (kit.events[i].kind == ACCESS_GIVEN_UP)
				return collisions;
			collisions += kit.events[i].kind == ACCESS_COLLISION;
		}
	}
}

TEST(a_grant_ends_the_count_of_tries) {
	assert_int_equal(until_given_up(0), ACCESS_TRIES);
	assert_in_range(until_given_up(5), 4 + ACCESS_TRIES, 6 + ACCESS_TRIES);
}

/* The opportunities that `MANY` flows use in a try, after `tries` in vain. */
static uint32_t widest(unsigned tries, unsigned *used) {
	static bool seen[8192];
	uint32_t most = 0, frame = 20;

	*used = 0;
	memset(seen, 0, sizeof(seen));
	kit_restart(1, MANY);
	kit_window(0, 4, 7, frame, 10, 130);
	kit_queue_all(77);
	for (unsigned i = 0; i <= tries; i++, frame += 30) {
		assert_true(kit_run(kit_at(frame + 14)) > 1);
		kit_window(0, 4, 7, frame + 30, frame + 14, 130);
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
	static const uint32_t windows[] = {16, 32, 64, 128, 128, 128};
	unsigned used;

	for (unsigned tries = 0; tries < ARRAY_COUNT(windows); tries++) {
		assert_int_equal(widest(tries, &used), windows[tries]);
		assert_in_range(used, tries < 2 ? windows[tries] : windows[tries] - 8,
				windows[tries]);
	}
}

TEST(opportunities_count_over_channels) {
	unsigned on[2] = {0};

	kit_restart(2, MANY);
	kit_window(0, 2, 6, 20, 10, 100);
	kit.map.data_start = 4;
	kit_send(1);
	kit_queue_all(77);
	assert_int_equal(kit_run(kit_at(26)), 16);
	for (unsigned i = 0; i < kit.count; i++) {
		assert_in_range(kit.events[i].minislot, 200, 209);
		on[kit.events[i].channel]++;
	}
	assert_int_equal(on[0], 10);
	assert_int_equal(on[1], 6);
}

TEST(the_widest_window) {
	kit_restart(2, MANY);
	kit_window(0, 4, 6, 20, 10, 100);
	kit_window(1, 1, 6, 20, 10, 100);
	kit_queue_all(77);
	assert_int_equal(kit_run(kit_at(26)), 16);
}

/* Flows with other channels meet on those that they share: each opportunity has one event, whosever the flows in it are. */
TEST(groups_share_opportunities) {
	unsigned seen[100] = {0};

	kit_restart(2, MANY);
	for (uint16_t i = 0; i < MANY; i += 2) {
		struct access_sid one = {1, (uint16_t)(100 + i)};

		kit_flow(i, (struct access_flow){.sids = &one, .sid_count = 1});
	}
	kit_window(1, 6, 6, 20, 10, 100);
	kit_queue_all(77);
	assert_int_equal(kit_run(kit_at(30)), 64);
	for (unsigned i = 0; i < kit.count; i++)
		assert_int_equal(seen[kit.events[i].minislot - 200]++, 0);
	assert_int_equal(kit_counts().contention, MANY);
}

TEST(unused_regions_are_forgotten) {
	for (uint32_t frame = 20; frame < 3020; frame++) {
		kit_run(kit_at(frame) - HEARD);
		kit_window(0, 2, 6, frame, frame - 10, 10);
	}
	access_queue(kit.access, 0, 40, kit.now);
	assert_int_equal(kit_run(kit_at(3020)), 1);
	assert_in_range(kit.events[0].at, kit.now - HEARD, kit.now);
}

TEST(the_nearest_grant_counts) {
	for (unsigned no_piggyback = 0; no_piggyback < 2; no_piggyback++) {
		kit_restart(2, 1);
		kit_flow(0, (struct access_flow){.header_bytes = HEADER,
						 .outstanding = 4,
						 .patience = 6 * FRAME,
						 .no_piggyback = no_piggyback == 1});
		access_queue(kit.access, 0, 5000, 0);
		kit_map(40, 10, {100, DATA, 5});
		kit_send_at(0, 0);
		kit_map(20, 10, {FOR_ALL, 10}, {0, DATA, 30}, {100, DATA, 5});
		kit_send_at(1, 0);
		kit_run(kit_at(24));
		assert_int_equal(kit_counts().contention, no_piggyback);
		assert_int_equal(kit_counts().piggybacks, 1 - no_piggyback);
	}
}

TEST(who_stays_out) {
	for (unsigned hasty = 0; hasty < 2; hasty++) {
		kit_restart(1, 2);
		kit_flow(0, (struct access_flow){.header_bytes = HEADER,
						 .outstanding = 4,
						 .patience = 10 * FRAME - hasty});
		kit_flow(1, (struct access_flow){.no_contention = true});
		kit_hear(0, 20, 10, {FOR_ALL, 40}, {0, DATA, 60}, {100, DATA, 1});
		kit_queue_all(500);
		assert_int_equal(kit_run(kit_at(44)), 1 + hasty);
		assert_int_equal(kit.events[0].kind, hasty ? ACCESS_REQUEST : ACCESS_BURST);
		assert_int_equal(kit.events[0].request, 500 - (MINISLOT - HEADER));
		assert_int_equal(kit.events[hasty].kind, ACCESS_BURST);
		assert_int_equal(kit_counts().contention, hasty);
	}
	assert_int_equal(kit.events[1].request, 0);
}

EACH_TEST(kit_begin, kit_finish)
