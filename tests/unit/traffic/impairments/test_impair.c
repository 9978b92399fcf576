/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests impair.h: bursts that impairments do not hit, and the release of delayed packets. */
#include "test_main.h"

#include "impairments/impair.h"

/* Not hit: the first bursts of a stream, and without sequence numbers those near a hit burst. */
TEST(first_and_neighbouring_bursts_are_not_hit) {
	static struct impair im;
	struct shadow_stream framed = {.framed = true}, legacy = {0};

	assert_false(impair_may_hit(&framed, 0));
	assert_false(impair_may_hit(&framed, 1));
	assert_true(impair_may_hit(&framed, 2) && impair_may_hit(&legacy, 2));
	impair_hit(&im, &framed, 20, IMPAIR_CLEAR);
	impair_hit(&im, &legacy, 20, IMPAIR_CLEAR);
	assert_int_equal(im.hits[IMPAIR_CLEAR], 2);
	assert_true(impair_may_hit(&framed, 20) && impair_may_hit(&framed, 21));
	assert_true(impair_may_hit(&legacy, 14) && impair_may_hit(&legacy, 26));
	for (uint32_t burst = 15; burst <= 25; burst++)
		assert_false(impair_may_hit(&legacy, burst));
}

/* A packet may be delayed during a round, after the time of the round's start. */
TEST(delayed_packet_is_released_after_its_time) {
	static struct uplink_output output;
	static struct rte_mbuf packet;
	static struct impair_session session;
	static struct impair im = {
		.output = &output, .sessions = &session, .session_count = 1, .delayed = 1};

	im.max_delay = 1000;
	session.impair = &im;
	session.delayed[session.delayed_count++] =
		(struct impair_delayed){.m = &packet, .since = 5000, .release = 4};
	impair_release(&im, 4990, false);
	impair_release(&im, 5999, false);
	assert_int_equal(output.pending_count, 0);
	impair_release(&im, 6000, false);
	assert_int_equal(output.pending_count, 1);
	assert_int_equal(im.delayed, 0);
}
