/* SPDX-License-Identifier: BSD-3-Clause */
/* What is spared, and for how long a packet is held back; the rest is in tests/e2e/run/test_impairments.py. */
#include "test_main.h"

#include "impairments/impair.h"

/* The first bursts of a stream, and of one without numbers those around another that was hit. */
TEST(what_is_spared) {
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

/* A packet is held back in the midst of a round, later than the time that the round goes by. */
TEST(what_is_held_waits_its_time) {
	static struct uplink_output output;
	static struct rte_mbuf packet;
	static struct impair_session session;
	static struct impair im = {
		.output = &output, .sessions = &session, .session_count = 1, .delayed = 1};

	im.patience = 1000;
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
