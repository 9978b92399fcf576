/* SPDX-License-Identifier: BSD-3-Clause */
/* Who contends, and who has a grant of its own to ask in. */
#include "access_kit.h"
#include "test_main.h"

/* Collisions of two flows, each MAP with one opportunity, until one gives up; at `granted` both get a grant. */
static unsigned until_given_up(unsigned granted) {
	unsigned collisions = 0;

	kit_restart(1, 2);
	for (uint32_t frame = 30;; frame += 20) {
		kit_map(frame, frame - 8);
		kit.map.data_start = kit.map.data_end = 0;
		if (collisions == granted && granted > 0) {
			kit_element(100, DATA, 9);
			kit_element(101, DATA, 9);
			granted = 0;
		}
		kit_element(MAP_SID_BROADCAST, MAP_REQUEST, 1);
		kit_end();
		kit_send(0);
		access_queue(kit.access, 0, 10, kit.now);
		access_queue(kit.access, 1, 10, kit.now);
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

/* The nearest grant counts, whichever MAP came first; and none in which it must not ask. */
static void with_two_grants(bool no_piggyback) {
	struct access_flow flow = {.header_bytes = HEADER, .outstanding = 4};

	flow.patience = 6 * FRAME;
	flow.no_piggyback = no_piggyback;
	kit_restart(2, 1);
	kit_flow(0, flow);
	access_queue(kit.access, 0, 5000, 0);
	kit_map(40, 10);
	kit_element(100, DATA, 5);
	kit_end();
	kit_send_at(0, 0);
	kit_map(20, 10);
	kit_element(MAP_SID_BROADCAST, MAP_REQUEST, 10);
	kit_element(0, DATA, 30);
	kit_element(100, DATA, 5);
	kit_end();
	kit_send_at(1, 0);
	kit_run(kit_at(24));
}

TEST(the_nearest_grant_counts) {
	with_two_grants(false);
	assert_int_equal(kit_counts().contention, 0);
	assert_int_equal(kit_counts().piggybacks, 1);
	with_two_grants(true);
	assert_int_equal(kit_counts().contention, 1);
	assert_int_equal(kit_counts().piggybacks, 0);
}

/* Who has a grant ahead that is near asks in it; who must not contend does not. */
static void with_grant_ahead(uint32_t patience) {
	struct access_flow patient = {.header_bytes = HEADER, .outstanding = 4};

	patient.patience = patience;
	kit_restart(1, 2);
	kit_flow(0, patient);
	kit_flow(1, (struct access_flow){.no_contention = true});
	kit_map(20, 10);
	kit_element(MAP_SID_BROADCAST, MAP_REQUEST, 40);
	kit_element(0, DATA, 60);
	kit_element(100, DATA, 1);
	kit_end();
	kit_send(0);
	access_queue(kit.access, 0, 500, 0);
	access_queue(kit.access, 1, 500, 0);
	kit_run(kit_at(44));
}

TEST(who_stays_out) {
	with_grant_ahead(10 * FRAME);
	assert_int_equal(kit.count, 1);
	assert_int_equal(kit.events[0].kind, ACCESS_BURST);
	assert_int_equal(kit.events[0].request, 500 - (MINISLOT - HEADER));
	assert_int_equal(kit_counts().contention, 0);
	with_grant_ahead(10 * FRAME - 1);
	assert_int_equal(kit.count, 2);
	assert_int_equal(kit.events[0].kind, ACCESS_REQUEST);
	assert_int_equal(kit.events[0].request,
			 500 - (MINISLOT - HEADER)); /* that fits in what is granted */
	assert_int_equal(kit.events[1].request, 0);
}

/* A grant comes while it backs off: it is out of the contention. */
TEST(a_grant_ends_the_contention) {
	access_queue(kit.access, 0, 40, 0);
	kit_map(20, 10);
	kit_element(100, DATA, 1);
	kit_element(MAP_SID_BROADCAST, MAP_REQUEST, 30);
	kit_end();
	kit_send(0);
	assert_int_equal(kit_run(kit_at(24)), 1);
	assert_int_equal(kit.events[0].kind, ACCESS_BURST);
}

EACH_TEST(kit_begin, kit_finish)
