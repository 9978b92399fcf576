/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests in contention: windows, collisions, tries, and who stays out of it. */
#include "access_rig.h"

/* Opportunities for all, in a window from 2^start to 2^end. */
static void send_region(struct access_rig *r, uint16_t channel, uint32_t frame, uint32_t ack,
			uint16_t minislots) {
	rig_map(r, frame, ack);
	rig_element(r, MAP_SID_BROADCAST, MAP_REQUEST, minislots);
	rig_end(r);
	rig_send(r, channel);
}

static void test_alone_it_is_heard(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	access_queue(r.access, 0, 77, 0);
	send_region(&r, 0, 20, 10, 40);
	assert_int_equal(rig_run(&r, rig_at(24)), 1);
	assert_int_equal(r.events[0].kind, ACCESS_REQUEST);
	assert_int_equal(r.events[0].request, 77);
	assert_in_range(r.events[0].minislot, 200, 203); /* in a window of 2^2 */
	assert_int_equal(r.events[0].time, rig_at(20) - PROPAGATION - BURST);
	assert_int_equal(r.events[0].end, rig_at(21));
	assert_int_equal(r.events[0].iuc, MAP_REQUEST);
	rig_close(&r);
}

/* Opportunities that nobody can decide of any more are passed over, in the middle of a region too. */
static void test_it_comes_in_the_middle_of_a_region(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	send_region(&r, 0, 20, 10, 100);
	rig_run(&r, rig_at(23));
	access_queue(r.access, 0, 77, r.now + 1);
	assert_int_equal(rig_run(&r, rig_at(30)), 1);
	assert_in_range(r.events[0].minislot, 250,
			253); /* filled two frames before, and after frame 23 */
	rig_close(&r);
}

static void with_window(struct access_rig *r, uint8_t start, uint8_t end, uint32_t frame,
			uint32_t ack, uint16_t minislots) {
	rig_map(r, frame, ack);
	r->map.data_start = start;
	r->map.data_end = end;
	rig_element(r, MAP_SID_BROADCAST, MAP_REQUEST, minislots);
	rig_end(r);
	rig_send(r, 0);
}

static void test_two_in_one_opportunity_collide(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 3);
	with_window(&r, 0, 0, 20, 10, 20);
	access_queue(r.access, 0, 77, 0);
	access_queue(r.access, 2, 78, 0);
	assert_int_equal(rig_run(&r, rig_at(24)), 1);
	assert_int_equal(r.events[0].kind, ACCESS_COLLISION);
	assert_int_equal(r.events[0].request, 2);
	assert_int_equal(r.events[0].flow, 0);
	assert_int_equal(r.events[0].minislot, 200);
	assert_int_equal(rig_counts(&r).contention, 2);
	assert_int_equal(rig_counts(&r).collided, 2);
	assert_int_equal(rig_counts(&r).collisions, 1);
	rig_close(&r);
}

/* Two that always meet: each gives up after 16 tries, is told of it once, and goes on. */
static void test_tries_have_an_end(void **state) {
	unsigned collisions = 0, given_up[2] = {0};
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 2);
	with_window(&r, 0, 0, 20, 10, 1);
	access_queue(r.access, 0, 77, 0);
	access_queue(r.access, 1, 77, 0);
	for (uint32_t frame = 30; frame < 30 + 20 * 20; frame += 20) {
		with_window(&r, 0, 0, frame, frame - 8, 1);
		rig_run(&r, rig_at(frame + 12)); /* until the next MAP */
		for (unsigned i = 0; i < r.count; i++) {
			collisions += r.events[i].kind == ACCESS_COLLISION;
			if (r.events[i].kind == ACCESS_GIVEN_UP && collisions == ACCESS_TRIES)
				given_up[r.events[i].flow]++;
		}
	}
	assert_int_equal(given_up[0], 1);
	assert_int_equal(given_up[1], 1);
	assert_true(collisions > ACCESS_TRIES);
	assert_int_equal(rig_counts(&r).given_up, 2);
	access_discard(r.access, 0, 77);
	assert_int_equal(access_waiting(r.access, 0), 0);
	access_discard(r.access, 1, 100); /* no more than there is */
	assert_int_equal(rig_counts(&r).discarded, 2 * 77);
	rig_close(&r);
}

#define MANY 512

/* The opportunities that `MANY` flows use in a try, after `tries` in vain. */
static uint32_t widest(unsigned tries, unsigned *used) {
	static struct access_rig r;
	static bool seen[8192];
	uint32_t most = 0, frame = 20;

	*used = 0;
	memset(seen, 0, sizeof(seen));
	rig_open(&r, 1, MANY);
	with_window(&r, 4, 7, frame, 10, 130);
	for (uint32_t i = 0; i < MANY; i++)
		access_queue(r.access, i, 77, 0);
	for (unsigned i = 0; i <= tries; i++, frame += 30) {
		assert_true(rig_run(&r, rig_at(frame + 14)) > 1);
		with_window(&r, 4, 7, frame + 30, frame + 14, 130);
	}
	for (unsigned i = 0; i < r.count; i++) {
		uint32_t at = r.events[i].minislot - (frame - 30) * IN_FRAME;

		most = at > most ? at : most;
		*used += !seen[at];
		seen[at] = true;
	}
	rig_close(&r);
	return most + 1;
}

static void test_windows_double_and_are_truncated(void **state) {
	unsigned used;

	(void)state;
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
static void test_opportunities_count_over_channels(void **state) {
	static struct access_rig r;
	unsigned on[2] = {0};

	(void)state;
	rig_open(&r, 2, MANY);
	send_region(&r, 0, 20, 10, 100);
	r.map.data_start = 4;
	rig_send(&r, 1);
	for (uint32_t i = 0; i < MANY; i++)
		access_queue(r.access, i, 77, 0);
	rig_run(&r, rig_at(26));
	assert_int_equal(r.count, 16);
	for (unsigned i = 0; i < r.count; i++) {
		assert_in_range(r.events[i].minislot, 200, 209);
		on[r.events[i].channel]++;
	}
	assert_int_equal(on[0], 10);
	assert_int_equal(on[1], 6);
	rig_close(&r);
}

/* The window is the widest that any of the channels has. */
static void test_the_widest_window(void **state) {
	static struct access_rig r;

	(void)state;
	rig_open(&r, 2, MANY);
	for (uint16_t channel = 0; channel < 2; channel++) {
		rig_map(&r, 20, 10);
		r.map.data_start = channel == 0 ? 4 : 1;
		rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 100);
		rig_end(&r);
		rig_send(&r, channel);
	}
	for (uint32_t i = 0; i < MANY; i++)
		access_queue(r.access, i, 77, 0);
	assert_int_equal(rig_run(&r, rig_at(26)), 16);
	rig_close(&r);
}

/* Flows with other channels meet each other on those that they share. */
static void test_groups_meet(void **state) {
	struct access_sid one = {1, 100};
	struct access_rig r;

	(void)state;
	rig_open(&r, 2, 2);
	rig_flow(&r, 0, (struct access_flow){.sids = &one, .sid_count = 1});
	rig_map(&r, 20, 10);
	r.map.data_start = r.map.data_end = 0;
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 5);
	rig_end(&r);
	rig_send(&r, 1);
	access_queue(r.access, 0, 10, 0);
	access_queue(r.access, 1, 10, 0);
	assert_int_equal(rig_run(&r, rig_at(22)), 1);
	assert_int_equal(r.events[0].kind, ACCESS_COLLISION);
	assert_int_equal(r.events[0].channel, 1);
	rig_close(&r);
}

/* Each opportunity has one event, whosever the flows in it are. */
static void test_groups_share_opportunities(void **state) {
	static struct access_rig r;
	unsigned seen[100] = {0};

	(void)state;
	rig_open(&r, 2, MANY);
	for (uint16_t i = 0; i < MANY; i += 2) {
		struct access_sid one = {1, (uint16_t)(100 + i)};

		rig_flow(&r, i, (struct access_flow){.sids = &one, .sid_count = 1});
	}
	rig_map(&r, 20, 10);
	r.map.data_start = 6;
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 100);
	rig_end(&r);
	rig_send(&r, 1);
	for (uint32_t i = 0; i < MANY; i++)
		access_queue(r.access, i, 77, 0);
	rig_run(&r, rig_at(30));
	assert_int_equal(r.count, 64);
	for (unsigned i = 0; i < r.count; i++)
		assert_int_equal(seen[r.events[i].minislot - 200]++, 0);
	assert_int_equal(rig_counts(&r).contention, MANY);
	rig_close(&r);
}

/* Of regions that nobody uses only so many are remembered, the latest. */
static void test_unused_regions_are_forgotten(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	for (uint32_t frame = 20; frame < 3020; frame++) {
		rig_run(&r, rig_at(frame) - HEARD);
		send_region(&r, 0, frame, frame - 10, 10);
	}
	access_queue(r.access, 0, 40, r.now);
	assert_int_equal(rig_run(&r, rig_at(3020)), 1);
	assert_in_range(r.events[0].at, r.now - HEARD, r.now);
	rig_close(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_alone_it_is_heard),
		cmocka_unit_test(test_it_comes_in_the_middle_of_a_region),
		cmocka_unit_test(test_two_in_one_opportunity_collide),
		cmocka_unit_test(test_tries_have_an_end),
		cmocka_unit_test(test_windows_double_and_are_truncated),
		cmocka_unit_test(test_opportunities_count_over_channels),
		cmocka_unit_test(test_the_widest_window),
		cmocka_unit_test(test_groups_meet),
		cmocka_unit_test(test_groups_share_opportunities),
		cmocka_unit_test(test_unused_regions_are_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
