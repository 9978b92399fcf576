/* SPDX-License-Identifier: BSD-3-Clause */
/* Sequence windows and resequencing: every order in, one order out. */
#include "proof/resequencer.h"
#include "proof/window.h"
#include "random/deck.h"
#include "test_main.h"

#include <string.h>

#define HZ 1000000000ull
#define WAIT (HZ / 1000 * RESEQUENCER_WAIT_MS)

#define NUMBERS (256 * WINDOW_SIZE)

/* What a list of all numbers that came says of the next one. */
static enum arrival expected(const bool *came, uint32_t next, uint32_t number) {
	if (number >= next)
		return number == next ? ARRIVAL_IN_ORDER : ARRIVAL_GAP;
	if (next - number > WINDOW_SIZE)
		return ARRIVAL_TOO_OLD;
	return came[number] ? ARRIVAL_DUPLICATE : ARRIVAL_LATE;
}

/* Numbers near the next one, far behind it, and now and then ahead by more than the window; over the wrap of 32 bits. */
TEST(windows_tell_late_from_duplicate) {
	static bool came[NUMBERS];
	const uint32_t base = UINT32_MAX - NUMBERS / 2;
	struct window w = {.next = base};
	struct random random = {3};
	unsigned kinds[ARRIVAL_TOO_OLD + 1] = {0};
	uint32_t next = 0, gap = 0;

	while (next < NUMBERS - 3 * WINDOW_SIZE) {
		uint32_t far = random_below(&random, 3000) == 0 ? 2 * WINDOW_SIZE : 3;
		uint32_t back = random_below(&random, 4) == 0 ? WINDOW_SIZE + 3 : 5;
		uint32_t number = next + random_below(&random, far);
		enum arrival arrival;

		number -= random_below(&random, back < number + 1 ? back : number + 1);
		arrival = expected(came, next, number);
		assert_int_equal(window_arrive(&w, base + number, &gap), arrival);
		kinds[arrival]++;
		if (arrival == ARRIVAL_GAP)
			assert_int_equal(gap, number - next);
		came[number] = true;
		next = number < next ? next : number + 1;
		assert_true(window_came(&w, base + number) == (next - number <= WINDOW_SIZE));
		assert_false(window_came(&w, base + next));
	}
	for (unsigned i = 0; i < ARRAY_COUNT(kinds); i++)
		assert_true(kinds[i] > 10);
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

TEST(order_stays) {
	for (uint32_t i = 0; i < 66000; i++)
		assert_int_equal(take(i, 65000, true, i), RESEQUENCER_TAKEN);
	assert_in_order(66000);
	assert_int_equal(all.resequenced, 0);
	assert_null(all.all[0].ring); /* nothing had to be held */
}

/* Blocks of random permutations, several channels' worth of skew, over the wrap of 16 bits. */
TEST(any_order_within_the_window_is_restored) {
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

#define OTHER 77 /* sequence of another packet */

struct step {
	enum {
		TAKE,
		BAD, /* its CRC is wrong */
		ANOTHER, /* another packet under the number */
		EXPIRE,
		FLUSH,
	} what;
	uint32_t number;
	uint64_t now;
	enum resequencer_verdict verdict;
	unsigned delivered; /* by then */
};

#define DO(...) {__VA_ARGS__}

static const struct {
	const char *name;
	struct step steps[8];
	uint64_t given_up;
} cases[] = {
	/* What comes too late is delivered out of order, for the account to see. */
	{"a gap is given up in time",
	 {DO(TAKE, 0, 0, RESEQUENCER_TAKEN, 1), DO(TAKE, 2, 1000, RESEQUENCER_TAKEN, 1),
	  DO(TAKE, 3, 2000, RESEQUENCER_TAKEN, 1), DO(EXPIRE, 0, 1000 + WAIT, 0, 1),
	  DO(EXPIRE, 0, 1001 + WAIT, 0, 3), DO(TAKE, 1, 2 * WAIT, RESEQUENCER_TAKEN, 4),
	  DO(TAKE, 1, 2 * WAIT, RESEQUENCER_USED, 4)},
	 1},
	{"each gap has its own time",
	 {DO(TAKE, 0, 0, RESEQUENCER_TAKEN, 1), DO(TAKE, 2, 0, RESEQUENCER_TAKEN, 1),
	  DO(TAKE, 4, 0, RESEQUENCER_TAKEN, 1), DO(EXPIRE, 0, WAIT + 1, 0, 2),
	  DO(EXPIRE, 0, WAIT + 2, 0, 2), DO(TAKE, 3, WAIT + 3, RESEQUENCER_TAKEN, 4)},
	 1},
	{"a long gap does not stall",
	 {DO(TAKE, 0, 0, RESEQUENCER_TAKEN, 1), DO(TAKE, 5000, 0, RESEQUENCER_TAKEN, 1),
	  DO(FLUSH, 0, 0, 0, 2), DO(TAKE, 5001, 0, RESEQUENCER_TAKEN, 3)},
	 4999},
	{"numbers used twice are told",
	 {DO(TAKE, 0, 0, RESEQUENCER_TAKEN, 1), DO(TAKE, 2, 0, RESEQUENCER_TAKEN, 1),
	  DO(TAKE, 2, 0, RESEQUENCER_DUPLICATE, 1), DO(ANOTHER, 2, 0, RESEQUENCER_CONFLICT, 1),
	  DO(TAKE, 1, 0, RESEQUENCER_TAKEN, 3), DO(ANOTHER, 2, 0, RESEQUENCER_USED, 3),
	  DO(ANOTHER, -2000u, 0, RESEQUENCER_USED, 3)},
	 0},
	{"an invalid packet does not start a DSID",
	 {DO(BAD, 0, 0, RESEQUENCER_TAKEN, 0),
	  /* 0 may still come. */
	  DO(TAKE, 1, 0, RESEQUENCER_TAKEN, 0), DO(TAKE, 0, 0, RESEQUENCER_TAKEN, 2)},
	 0},
	/* A frame whose CRC is wrong keeps its place: nothing waits for it. */
	{"invalid packets take their place",
	 {DO(TAKE, 0, 0, RESEQUENCER_TAKEN, 1), DO(BAD, 1, 0, RESEQUENCER_TAKEN, 1),
	  DO(TAKE, 2, 0, RESEQUENCER_TAKEN, 2), DO(BAD, 4, 0, RESEQUENCER_TAKEN, 2),
	  DO(TAKE, 3, 0, RESEQUENCER_TAKEN, 3), DO(TAKE, 5, 0, RESEQUENCER_TAKEN, 4)},
	 0},
};

static void step_check(const struct step *s) {
	const struct arrived other = {.sequence = OTHER, .valid = true};

	switch (s->what) {
	case TAKE:
	case BAD: assert_int_equal(take(s->number, 0, s->what == TAKE, s->now), s->verdict); break;
	case ANOTHER:
		assert_int_equal(resequencers_take(&all, 0, (uint16_t)s->number, &other, s->now),
				 s->verdict);
		break;
	case EXPIRE: resequencers_expire(&all, s->now); break;
	case FLUSH: resequencers_flush(&all, s->now); break;
	}
	assert_int_equal(delivered.count, s->delivered);
}

TEST(what_is_missing_is_waited_for) {
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		const struct step *s = cases[i].steps;

		print_message("  %s\n", cases[i].name);
		destroy(state);
		create(state);
		for (; s < cases[i].steps + 8 &&
		       (s == cases[i].steps || s->delivered > 0 || s->number > 0);
		     s++)
			step_check(s);
		assert_int_equal(all.given_up, cases[i].given_up);
		assert_int_equal(all.waiting_count, 0);
	}
}

TEST(a_gap_is_given_up_when_too_many_wait) {
	take(0, 0, true, 0);
	for (uint32_t i = 2; i <= RESEQUENCER_DEPTH; i++)
		assert_int_equal(take(i, 0, true, 0), RESEQUENCER_TAKEN);
	assert_in_order(1);
	take(RESEQUENCER_DEPTH + 1, 0, true, 0);
	assert_int_equal(delivered.count, RESEQUENCER_DEPTH + 1);
	assert_int_equal(all.given_up, 1);
	assert_int_equal(all.waiting_count, 0);
}

TEST(dsids_wait_for_themselves_only) {
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

EACH_TEST(create, destroy)
