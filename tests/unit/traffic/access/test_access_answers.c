/* SPDX-License-Identifier: BSD-3-Clause */
/* What modems ask for, and what they make of MAPs that answer, or do not. */
#include "access_rig.h"

/* Modems that wait for their grants: what they send in them, ask for beside, and ask again. */
#include "access_rig.h"

static void test_requests_count_in_units(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	rig_flow(&r, 0, (struct access_flow){.request_unit = 16, .outstanding = 2});
	access_queue(r.access, 0, 100, 0);
	rig_map(&r, 20, 14);
	rig_element(&r, 100, MAP_REQUEST, 1); /* a poll */
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, rig_at(20)), 1);
	assert_int_equal(r.events[0].kind, ACCESS_REQUEST);
	assert_int_equal(r.events[0].request, 112);
	access_queue(r.access, 0, 16 * 70000, r.now); /* more than the field holds */
	rig_map(&r, 30, 15);
	rig_element(&r, 100, MAP_REQUEST, 1);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, rig_at(30)), 1);
	assert_int_equal(r.events[0].request, 16 * 65535);
	assert_int_equal(rig_counts(&r).polls, 2);
	rig_close(&r);
}

/* Bytes in doubt, and those that grants are known for, are not asked for twice. */
static void test_nothing_is_asked_for_twice(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	access_queue(r.access, 0, 1000, 0);
	for (uint32_t frame = 20; frame < 23; frame++) {
		rig_map(&r, frame, 10);
		rig_element(&r, 100, MAP_REQUEST, 1);
		rig_end(&r);
		rig_send(&r, 0);
	}
	assert_int_equal(rig_run(&r, rig_at(23)), 1);
	assert_int_equal(r.events[0].request, 1000);
	rig_map(&r, 30, 10);
	rig_element(&r, 100, DATA, 5);
	rig_element(&r, 100, DATA, 5);
	rig_end(&r);
	rig_send(&r, 0);
	access_queue(r.access, 0, 300, rig_at(23));
	assert_int_equal(rig_run(&r, rig_at(31)), 2);
	assert_int_equal(r.events[0].request, 300); /* 1,000 less two grants are still asked for */
	assert_int_equal(r.events[1].request, 0);
	rig_close(&r);
}

static void test_requests_in_doubt_are_limited(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	for (uint32_t frame = 20; frame < 30; frame++) {
		rig_map(&r, frame, 10);
		rig_element(&r, 100, MAP_REQUEST, 1);
		rig_end(&r);
		rig_send(&r, 0);
	}
	for (uint32_t frame = 18; frame < 30; frame++) {
		rig_run(&r, rig_at(frame));
		access_queue(r.access, 0, 10, r.now);
	}
	assert_int_equal(rig_counts(&r).polls, 4);
	assert_int_equal(rig_counts(&r).asked, 40);
	rig_close(&r);
}

/* Ack time passes a poll's request: it is made again, unless a grant is pending. */
static void ask_and_acknowledge(struct access_rig *r, bool pending) {
	rig_open(r, 1, 1);
	access_queue(r->access, 0, 1000, 0);
	rig_map(r, 20, 14);
	rig_element(r, 100, MAP_REQUEST, 1);
	rig_end(r);
	rig_send(r, 0);
	assert_int_equal(rig_run(r, rig_at(20)), 1);
	rig_map(r, 40, 21);
	rig_element(r, MAP_SID_BROADCAST, MAP_REQUEST, 60);
	rig_end(r);
	if (pending)
		rig_pending(r, 100);
	rig_send(r, 0);
	rig_run(r, rig_at(46));
}

static void test_unanswered_requests_are_made_again(void **state) {
	struct access_rig r;

	(void)state;
	ask_and_acknowledge(&r, false);
	assert_int_equal(r.count, 1);
	assert_int_equal(r.events[0].kind, ACCESS_REQUEST);
	assert_int_equal(r.events[0].request, 1000);
	assert_int_equal(rig_counts(&r).unanswered, 1);
	assert_int_equal(rig_counts(&r).unanswered_contended, 0); /* it was polled */
	assert_int_equal(rig_counts(&r).contention, 1);
	rig_close(&r);
}

/* Whole minislots: 1,000 bytes and a segment header take 21, one more or less is another answer. */
static void test_answers_of_another_size(void **state) {
	static const struct {
		uint16_t minislots;
		unsigned partial, excessive;
	} answers[] = {{20, 1, 0}, {21, 0, 0}, {22, 0, 1}};

	(void)state;
	for (unsigned i = 0; i < 3; i++) {
		struct access_rig r;

		rig_open(&r, 1, 1);
		access_queue(r.access, 0, 1000, 0);
		rig_map(&r, 20, 14);
		rig_element(&r, 100, MAP_REQUEST, 1);
		rig_end(&r);
		rig_send(&r, 0);
		assert_int_equal(rig_run(&r, rig_at(20)), 1);
		rig_send_grant(&r, 40, answers[i].minislots);
		assert_int_equal(rig_counts(&r).partial, answers[i].partial);
		assert_int_equal(rig_counts(&r).excessive, answers[i].excessive);
		rig_close(&r);
	}
}

static void test_pending_requests_are_waited_for(void **state) {
	struct access_rig r;

	(void)state;
	ask_and_acknowledge(&r, true);
	assert_int_equal(r.count, 0);
	rig_map(&r, 50, 30); /* it has been forgotten: neither granted nor pending any more */
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 60);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, rig_at(56)), 1);
	assert_int_equal(r.events[0].request, 1000);
	rig_close(&r);
}

/* With an ack time before it, a request is in doubt for however long it takes. */
static void test_requests_wait_for_the_ack_time(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	access_queue(r.access, 0, 1000, 0);
	rig_map(&r, 20, 14);
	rig_element(&r, 100, MAP_REQUEST, 1);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, rig_at(20)), 1);
	rig_map(&r, 40, 20); /* "before": its own minislot is not acknowledged yet */
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 60);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, rig_at(46)), 0);
	rig_close(&r);
}

/* What is asked for in a long burst cannot be known before its end. */
static void test_requests_in_long_bursts(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	access_queue(r.access, 0, 1000 + 50 * MINISLOT, 0);
	rig_send_grant(&r, 20, 50);
	assert_int_equal(rig_run(&r, rig_at(20)), 1);
	assert_int_equal(r.events[0].request, 1000 + HEADER);
	rig_map(&r, 40, 24); /* before its last frame */
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 60);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, rig_at(46)), 0);
	assert_int_equal(rig_counts(&r).unanswered, 0);
	rig_map(&r, 60, 25);
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 60);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, rig_at(66)), 1);
	assert_int_equal(rig_counts(&r).unanswered, 1);
	rig_close(&r);
}

/* Of two requests the ack time has passed the first only. */
static void test_requests_are_lost_one_by_one(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	rig_map(&r, 20, 14);
	rig_element(&r, 100, MAP_REQUEST, 10);
	rig_element(&r, 100, MAP_REQUEST, 10);
	rig_end(&r);
	rig_send(&r, 0);
	access_queue(r.access, 0, 1000, 0);
	rig_run(&r, rig_at(20) - PROPAGATION - BURST);
	access_queue(r.access, 0, 500, r.now);
	assert_int_equal(rig_run(&r, rig_at(22)), 1);
	rig_map(&r, 40, 21);
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 60);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, rig_at(46)), 1);
	assert_int_equal(r.events[0].request, 1000);
	assert_int_equal(rig_counts(&r).unanswered, 1);
	rig_close(&r);
}

/* What is granted to the byte is in doubt no more. */
static void test_a_granted_request_makes_room(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 1, 1);
	rig_flow(&r, 0, (struct access_flow){.header_bytes = HEADER, .outstanding = 1});
	access_queue(r.access, 0, MINISLOT - HEADER, 0);
	rig_map(&r, 20, 14);
	rig_element(&r, 100, MAP_REQUEST, 1);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, rig_at(20)), 1);
	rig_map(&r, 30, 10); /* that acknowledges nothing */
	rig_element(&r, 100, DATA, 1);
	rig_end(&r);
	rig_send(&r, 0);
	access_queue(r.access, 0, 70, r.now);
	assert_int_equal(rig_run(&r, rig_at(30)), 1);
	assert_int_equal(r.events[0].bytes, MINISLOT - HEADER);
	assert_int_equal(r.events[0].request, 70);
	rig_close(&r);
}

/* An ack time that is ahead of its own MAP says nothing of what is asked for behind its begin. */
static void test_ack_times_ahead(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 2, 1);
	rig_map(&r, 40, 1000);
	rig_end(&r);
	rig_send(&r, 0);
	rig_map(&r, 50, 30);
	rig_element(&r, 100, MAP_REQUEST, 1);
	rig_end(&r);
	rig_send(&r, 1);
	access_queue(r.access, 0, 1000, 0);
	assert_int_equal(rig_run(&r, rig_at(50)), 1);
	rig_map(&r, 60, 55);
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 60);
	rig_end(&r);
	rig_send_at(&r, 1, r.now);
	assert_int_equal(rig_run(&r, rig_at(66)), 0);
	assert_int_equal(rig_counts(&r).unanswered, 0);
	rig_close(&r);
}

/* A grant on another channel, whose MAP comes after: all channels have to acknowledge. */
static void test_all_channels_acknowledge(void **state) {
	struct access_rig r;

	(void)state;
	rig_open(&r, 2, 1);
	access_queue(r.access, 0, 1000, 0);
	rig_map(&r, 20, 14);
	rig_element(&r, 100, MAP_REQUEST, 1);
	rig_end(&r);
	rig_send(&r, 0);
	rig_send(&r, 1);
	assert_int_equal(rig_run(&r, rig_at(20)), 1); /* the second poll has nothing to ask */
	rig_map(&r, 40, 22);
	rig_element(&r, MAP_SID_BROADCAST, MAP_REQUEST, 60);
	rig_end(&r);
	rig_send(&r, 0);
	assert_int_equal(rig_run(&r, rig_at(40)), 0);
	rig_map(&r, 42, 22);
	rig_element(&r, 100, DATA, 30);
	rig_end(&r);
	rig_send(&r, 1);
	assert_int_equal(rig_run(&r, rig_at(46)), 1);
	assert_int_equal(r.events[0].bytes, 1000);
	assert_int_equal(rig_counts(&r).unanswered, 0);
	rig_close(&r);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_requests_count_in_units),
		cmocka_unit_test(test_nothing_is_asked_for_twice),
		cmocka_unit_test(test_requests_in_doubt_are_limited),
		cmocka_unit_test(test_unanswered_requests_are_made_again),
		cmocka_unit_test(test_answers_of_another_size),
		cmocka_unit_test(test_pending_requests_are_waited_for),
		cmocka_unit_test(test_requests_wait_for_the_ack_time),
		cmocka_unit_test(test_requests_in_long_bursts),
		cmocka_unit_test(test_requests_are_lost_one_by_one),
		cmocka_unit_test(test_a_granted_request_makes_room),
		cmocka_unit_test(test_ack_times_ahead),
		cmocka_unit_test(test_all_channels_acknowledge),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
