/* SPDX-License-Identifier: BSD-3-Clause */
/* What --impair takes, and the generator behind it. */
#include "test_main.h"

#include "impairments/impair.h"

#define DRAWS 200000

static struct impair_shares shares;
static char error[IMPAIR_ERROR];

static bool parse(const char *text) {
	error[0] = '\0';
	return impair_parse(text, &shares, error, sizeof(error));
}

static bool about(double value, double wanted) {
	return value > wanted * 0.999999 && value < wanted * 1.000001;
}

TEST(shares_in_both_ways) {
	assert_true(parse("psp-loss=0.1%"));
	assert_true(about(shares.share[IMPAIR_PSP_LOSS], 0.001));
	assert_true(impair_any(&shares));
	assert_true(parse("clear=0.001,psp-late=25%,segment-missing=1"));
	assert_true(about(shares.share[IMPAIR_CLEAR], 0.001));
	assert_true(about(shares.share[IMPAIR_PSP_LATE], 0.25));
	assert_true(about(shares.share[IMPAIR_SEGMENT_MISSING], 1));
	assert_true(shares.share[IMPAIR_PSP_LOSS] == 0);
	assert_true(parse("psp-loss=0"));
	assert_false(impair_any(&shares));
	for (int i = 0; i < IMPAIRMENTS; i++) {
		char text[64];

		snprintf(text, sizeof(text), "%s=50%%", impair_name((enum impairment)i));
		assert_true(parse(text));
		assert_true(about(shares.share[i], 0.5));
	}
}

/* Each kind as often as asked for, none out of what is not allowed, none in the calm. */
TEST(draws) {
	static struct impair im;
	unsigned hits[IMPAIRMENTS + 1] = {0};

	assert_true(parse("psp-loss=10%,psp-late=20%,psp-reorder=5%,clear=50%"));
	im = (struct impair){.shares = shares, .random = {1}};
	for (unsigned i = 0; i < DRAWS; i++)
		hits[impair_draw(&im, IMPAIR_PACKET, ~impair_bit(IMPAIR_PSP_REORDER))]++;
	assert_true(hits[IMPAIR_PSP_LOSS] > 0.095 * DRAWS && hits[IMPAIR_PSP_LOSS] < 0.105 * DRAWS);
	assert_true(hits[IMPAIR_PSP_LATE] > 0.195 * DRAWS && hits[IMPAIR_PSP_LATE] < 0.205 * DRAWS);
	assert_int_equal(hits[IMPAIR_PSP_REORDER] + hits[IMPAIR_CLEAR], 0);
	assert_int_equal(hits[IMPAIR_PSP_LOSS] + hits[IMPAIR_PSP_LATE] + hits[IMPAIRMENTS], DRAWS);
	im.calm = true;
	for (unsigned i = 0; i < DRAWS; i++)
		assert_int_equal(impair_draw(&im, IMPAIR_FRAME, ~0u), IMPAIRMENTS);
}

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
		.output = &output, .sessions = &session, .session_count = 1, .held = 1};

	im.patience = 1000;
	session.impair = &im;
	session.held[session.held_count++] =
		(struct impair_held){.m = &packet, .since = 5000, .release = 4};
	impair_release(&im, 4990, false);
	impair_release(&im, 5999, false);
	assert_int_equal(output.pending_count, 0);
	impair_release(&im, 6000, false);
	assert_int_equal(output.pending_count, 1);
	assert_int_equal(im.held, 0);
}
