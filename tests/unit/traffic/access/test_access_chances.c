/* SPDX-License-Identifier: BSD-3-Clause */
/* Who contends, and who has a grant of its own to ask in. */
#include "access_rig.h"

/* Requests in contention: windows, collisions, tries, and who stays out of it. */
#include "access_rig.h"

/* Collisions of two flows, each MAP with one opportunity, until one gives up; at `granted` both get a grant. */
static unsigned until_given_up(unsigned granted) {
	unsigned collisions = 0;
	struct access_rig r;

	rig_open(&r, 1, 2);
	for (uint32_t frame = 30;; frame += 20) {
		rig_map(&r, frame, frame - 8);
		r.map.data_start = r.map.data_end = 0;
		if (collisions == granted && granted > 0) {
			rig_element(&r, 100, DATA, 9);
			rig_element(&r, 101, DATA, 9);
			granted = 0;
		}
		rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 1);
		rig_end(&r);
		rig_send(&r, 0);
		access_queue(r.access, 0, 10, r.now);
		access_queue(r.access, 1, 10, r.now);
		rig_run(&r, rig_at(frame + 12));
		for (unsigned i = 0; i < r.count; i++) {
			if (r.events[i].kind == ACCESS_GIVEN_UP) {
				rig_close(&r);
				return collisions;
			}
			collisions += r.events[i].kind == ACCESS_COLLISION;
		}
	}
}

static void test_a_grant_ends_the_count_of_tries(void **state) {
	(void)state;
	assert_int_equal(until_given_up(0), ACCESS_TRIES);
	assert_in_range(until_given_up(5), 4 + ACCESS_TRIES, 6 + ACCESS_TRIES);
}

/* The nearest grant counts, whichever MAP came first; and none in which it must not ask. */
static void with_two_grants(struct access_rig *r, bool no_piggyback) {
	struct access_flow flow = {.header_bytes = HEADER, .outstanding = 4};

	flow.patience = 6 * FRAME;
	flow.no_piggyback = no_piggyback;
	rig_open(r, 2, 1);
	rig_flow(r, 0, flow);
	access_queue(r->access, 0, 5000, 0);
	rig_map(r, 40, 10);
	rig_element(r, 100, DATA, 5);
	rig_end(r);
	rig_send_at(r, 0, 0);
	rig_map(r, 20, 10);
	rig_element(r, MAP_SID_BROADCAST, MAP_REQUEST, 10);
	rig_element(r, 0, DATA, 30);
	rig_element(r, 100, DATA, 5);
	rig_end(r);
	rig_send_at(r, 1, 0);
	rig_run(r, rig_at(24));
}

static void test_the_nearest_grant_counts(void **state) {
	struct access_rig r;

	(void)state;
	with_two_grants(&r, false);
	assert_int_equal(rig_counts(&r).contention, 0);
	assert_int_equal(rig_counts(&r).piggybacks, 1);
	rig_close(&r);
	with_two_grants(&r, true);
	assert_int_equal(rig_counts(&r).contention, 1);
	assert_int_equal(rig_counts(&r).piggybacks, 0);
	rig_close(&r);
}

/* Who has a grant ahead that is near asks in it; who must not contend does not. */
static void with_grant_ahead(struct access_rig *r, uint32_t patience) {
	struct access_flow patient = {.header_bytes = HEADER, .outstanding = 4};

	patient.patience = patience;
	rig_open(r, 1, 2);
	rig_flow(r, 0, patient);
	rig_flow(r, 1, (struct access_flow){.no_contention = true});
	rig_map(r, 20, 10);
	rig_element(r, MAP_SID_BROADCAST, MAP_REQUEST, 40);
	rig_element(r, 0, DATA, 60);
	rig_element(r, 100, DATA, 1);
	rig_end(r);
	rig_send(r, 0);
	access_queue(r->access, 0, 500, 0);
	access_queue(r->access, 1, 500, 0);
	rig_run(r, rig_at(44));
}

static void test_who_stays_out(void **state) {
	struct access_rig r;

	(void)state;
	with_grant_ahead(&r, 10 * FRAME);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.events[0].kind, ACCESS_BURST);
	assert_int_equal(r.events[0].request, 500 - (MINISLOT - HEADER));
	assert_int_equal(rig_counts(&r).contention, 0);
	rig_close(&r);
	with_grant_ahead(&r, 10 * FRAME - 1);
	assert_int_equal(r.count, 2);
	assert_int_equal(r.events[0].kind, ACCESS_REQUEST);
	assert_int_equal(r.events[0].request,
			 500 - (MINISLOT - HEADER)); /* that fits in what is granted */
	assert_int_equal(r.events[1].request, 0);
	rig_close(&r);
}

/* A grant comes while it backs off: it is out of the contention. */
static void test_a_grant_ends_the_contention(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	access_queue(r.access, 0, 40, 0);
	rig_map(&r, 20, 10);
	rig_element(&r, 100, DATA, 1);
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 30);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, rig_at(24)), 1);
	assert_int_equal(r.events[0].kind, ACCESS_BURST);
	rig_close(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_who_stays_out),
		cmocka_unit_test(test_a_grant_ends_the_count_of_tries),
		cmocka_unit_test(test_the_nearest_grant_counts),
		cmocka_unit_test(test_a_grant_ends_the_contention),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
