/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequence windows and resequencing: every order in, one order out. */
#include "proof/resequencer.h"
#include "proof/window.h"
#include "random/deck.h"
#include "test.h"

#include <string.h>

#define HZ 1000000000ull
#define WAIT (HZ / 1000 * RESEQUENCER_WAIT_MS)

static void windows_tell_late_from_duplicate(void **state) {
	struct window w = {.next = 5};
	uint32_t gap = 0;

	assert_int_equal(window_arrive(&w, 5, &gap), ARRIVAL_IN_ORDER);
	assert_int_equal(window_arrive(&w, 6, &gap), ARRIVAL_IN_ORDER);
	assert_int_equal(window_arrive(&w, 8, &gap), ARRIVAL_GAP);
	assert_int_equal(gap, 1);
	assert_false(window_came(&w, 7));
	assert_int_equal(window_arrive(&w, 7, &gap), ARRIVAL_LATE);
	assert_int_equal(window_arrive(&w, 7, &gap), ARRIVAL_DUPLICATE);
	assert_int_equal(window_arrive(&w, 9, &gap), ARRIVAL_IN_ORDER);
	assert_true(window_came(&w, 9));
	assert_false(window_came(&w, 10));
	assert_false(window_came(&w, 9 - WINDOW_SIZE));
}

static void windows_forget_what_is_old(void **state) {
	struct window w = {0};
	uint32_t gap = 0;

	for (uint32_t i = 0; i < 3 * WINDOW_SIZE; i++)
		assert_int_equal(window_arrive(&w, i, &gap), ARRIVAL_IN_ORDER);
	assert_int_equal(window_arrive(&w, 2 * WINDOW_SIZE, &gap), ARRIVAL_DUPLICATE);
	assert_int_equal(window_arrive(&w, 2 * WINDOW_SIZE - 1, &gap), ARRIVAL_TOO_OLD);
	/* A gap larger than the window clears it. */
	assert_int_equal(window_arrive(&w, 9 * WINDOW_SIZE, &gap), ARRIVAL_GAP);
	assert_int_equal(gap, 6 * WINDOW_SIZE);
	assert_int_equal(window_arrive(&w, 9 * WINDOW_SIZE - 1, &gap), ARRIVAL_LATE);
	assert_int_equal(window_arrive(&w, 8 * WINDOW_SIZE + 1, &gap), ARRIVAL_LATE);
}

static void windows_go_over_the_wrap(void **state) {
	struct window w = {.next = UINT32_MAX - 1};
	uint32_t gap = 0;

	assert_int_equal(window_arrive(&w, UINT32_MAX - 1, &gap), ARRIVAL_IN_ORDER);
	assert_int_equal(window_arrive(&w, 0, &gap), ARRIVAL_GAP);
	assert_int_equal(window_arrive(&w, UINT32_MAX, &gap), ARRIVAL_LATE);
	assert_int_equal(window_arrive(&w, 1, &gap), ARRIVAL_IN_ORDER);
	w = (struct window){.next = 0x1ffff};
	assert_int_equal(window_extend(&w, 0xffff), 0x1ffff);
	assert_int_equal(window_extend(&w, 2), 0x20002);
	assert_int_equal(window_extend(&w, 0xfff0), 0x1fff0);
}

struct delivered {
	uint32_t sequences[70000];
	unsigned count;
};

static struct delivered delivered;
static struct resequencers all;

static void note(void *ctx, const struct arrived *packet, uint64_t now) {
	struct delivered *d = ctx;

	(void)now;
	assert_true(packet->valid);
	assert_true(d->count < ARRAY_COUNT(d->sequences));
	d->sequences[d->count++] = packet->sequence;
}

static int create(void **state) {
	delivered.count = 0;
	return resequencers_create(&all, 2, HZ, note, &delivered);
}

static int destroy(void **state) {
	resequencers_free(&all);
	return 0;
}

/* DSID 0 numbers its packets from `base` on. */
static enum resequencer_verdict take(uint32_t sequence, uint16_t base, bool valid, uint64_t now) {
	struct arrived packet = {.sequence = sequence, .valid = valid};

	return resequencers_take(&all, 0, (uint16_t)(base + sequence), &packet, now);
}

static void assert_in_order(unsigned count) {
	assert_int_equal(delivered.count, count);
	for (unsigned i = 0; i < count; i++)
		assert_int_equal(delivered.sequences[i], i);
}

static void order_stays(void **state) {
	for (uint32_t i = 0; i < 66000; i++)
		assert_int_equal(take(i, 65000, true, i), RESEQUENCER_TAKEN);
	assert_in_order(66000);
	assert_int_equal(all.resequenced, 0);
	assert_null(all.all[0].ring); /* nothing had to be held */
}

/* Blocks of random permutations, several channels' worth of skew, over the wrap of 16 bits. */
static void any_order_within_the_window_is_restored(void **state) {
	static const unsigned spans[] = {2, 3, 17, 256, RESEQUENCER_DEPTH};
	struct random random = {7};
	uint32_t next = 0;

	for (unsigned round = 0; next < 69000 - RESEQUENCER_DEPTH; round++) {
		unsigned span = spans[round % ARRAY_COUNT(spans)];
		uint32_t block[RESEQUENCER_DEPTH];

		for (unsigned i = 0; i < span; i++)
			block[i] = next + i;
		for (unsigned i = span; i > 1; i--) {
			unsigned pick = random_below(&random, i);
			uint32_t other = block[i - 1];

			block[i - 1] = block[pick];
			block[pick] = other;
		}
		for (unsigned i = 0; i < span; i++)
			assert_int_equal(take(block[i], 12345, true, 0), RESEQUENCER_TAKEN);
		next += span;
		assert_in_order(next);
		assert_int_equal(all.waiting_count, 0);
	}
	assert_int_equal(all.given_up, 0);
	assert_int_equal(all.deepest, RESEQUENCER_DEPTH);
}

static void a_gap_is_given_up_in_time(void **state) {
	take(0, 100, true, 0);
	take(2, 100, true, 1000);
	take(3, 100, true, 2000);
	resequencers_expire(&all, 1000 + WAIT);
	assert_in_order(1);
	resequencers_expire(&all, 1001 + WAIT);
	assert_int_equal(delivered.count, 3);
	assert_int_equal(delivered.sequences[2], 3);
	assert_int_equal(all.given_up, 1);
	assert_int_equal(all.waiting_count, 0);
	/* What comes too late is delivered out of order, for the account to see. */
	assert_int_equal(take(1, 100, true, 2 * WAIT), RESEQUENCER_TAKEN);
	assert_int_equal(delivered.sequences[3], 1);
	assert_int_equal(take(1, 100, true, 2 * WAIT), RESEQUENCER_USED);
	assert_int_equal(delivered.count, 4);
}

/* Each gap has its own time. */
static void the_next_gap_is_waited_for_anew(void **state) {
	take(0, 0, true, 0);
	take(2, 0, true, 0);
	take(4, 0, true, 0);
	resequencers_expire(&all, WAIT + 1);
	assert_int_equal(delivered.count, 2);
	resequencers_expire(&all, WAIT + 2);
	assert_int_equal(delivered.count, 2);
	assert_int_equal(take(3, 0, true, WAIT + 3), RESEQUENCER_TAKEN);
	assert_int_equal(delivered.count, 4);
	assert_int_equal(all.given_up, 1);
}

static void a_gap_is_given_up_when_too_many_wait(void **state) {
	take(0, 0, true, 0);
	for (uint32_t i = 2; i <= RESEQUENCER_DEPTH; i++)
		assert_int_equal(take(i, 0, true, 0), RESEQUENCER_TAKEN);
	assert_in_order(1);
	take(RESEQUENCER_DEPTH + 1, 0, true, 0);
	assert_int_equal(delivered.count, RESEQUENCER_DEPTH + 1);
	assert_int_equal(all.given_up, 1);
	assert_int_equal(all.waiting_count, 0);
}

static void a_long_gap_does_not_stall(void **state) {
	take(0, 0, true, 0);
	take(5000, 0, true, 0);
	assert_int_equal(delivered.count, 1);
	resequencers_flush(&all, 0);
	assert_int_equal(delivered.count, 2);
	assert_int_equal(all.given_up, 4999);
	take(5001, 0, true, 0);
	assert_int_equal(delivered.count, 3);
}

static void numbers_used_twice_are_told(void **state) {
	struct arrived other = {.sequence = 77, .valid = true};

	take(0, 0, true, 0);
	take(2, 0, true, 0);
	assert_int_equal(take(2, 0, true, 0), RESEQUENCER_DUPLICATE);
	assert_int_equal(resequencers_take(&all, 0, 2, &other, 0), RESEQUENCER_CONFLICT);
	take(1, 0, true, 0);
	assert_int_equal(resequencers_take(&all, 0, 2, &other, 0), RESEQUENCER_USED);
	assert_int_equal(resequencers_take(&all, 0, (uint16_t)(0 - 2000), &other, 0),
			 RESEQUENCER_USED);
	assert_in_order(3);
}

/* A frame whose CRC is wrong keeps its place: nothing waits for it. */
static void invalid_packets_take_their_place(void **state) {
	take(0, 0, false, 0); /* does not start the DSID */
	take(1, 0, true, 0);
	assert_int_equal(delivered.count, 0); /* 0 may still come */
	take(0, 0, true, 0);
	assert_in_order(2);
	take(2, 0, false, 0);
	take(3, 0, true, 0);
	assert_int_equal(delivered.count, 3);
	take(5, 0, false, 0);
	take(4, 0, true, 0);
	take(6, 0, true, 0);
	assert_int_equal(delivered.count, 5);
	assert_int_equal(all.given_up, 0);
	assert_int_equal(all.waiting_count, 0);
}

static void dsids_wait_for_themselves_only(void **state) {
	struct arrived packet = {.sequence = 0, .valid = true};

	take(0, 0, true, 0);
	take(2, 0, true, 0);
	assert_int_equal(resequencers_take(&all, 1, 0, &packet, 0), RESEQUENCER_TAKEN);
	assert_int_equal(delivered.count, 2);
	packet.sequence = 2;
	resequencers_take(&all, 1, 2, &packet, 0);
	assert_int_equal(all.waiting_count, 2);
	take(1, 0, true, 0);
	assert_int_equal(all.waiting_count, 1);
	resequencers_flush(&all, 0);
	assert_int_equal(all.waiting_count, 0);
	assert_int_equal(delivered.count, 5);
}

#define test(function) cmocka_unit_test_setup_teardown(function, create, destroy)

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(windows_tell_late_from_duplicate),
		cmocka_unit_test(windows_forget_what_is_old),
		cmocka_unit_test(windows_go_over_the_wrap),
		test(order_stays),
		test(any_order_within_the_window_is_restored),
		test(a_gap_is_given_up_in_time),
		test(the_next_gap_is_waited_for_anew),
		test(a_gap_is_given_up_when_too_many_wait),
		test(a_long_gap_does_not_stall),
		test(numbers_used_twice_are_told),
		test(invalid_packets_take_their_place),
		test(dsids_wait_for_themselves_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
