/* SPDX-License-Identifier: BSD-3-Clause */
/* The timer wheel against a list of times that is searched. */
#include "test_main.h"

#include <stdbool.h>

#include "random.h"
#include "scheduler/wheel.h"

#define TIMERS 200
#define SLOT (INT64_C(1) << WHEEL_SHIFT)
#define UNSET INT64_MAX
#define FAR (INT64_C(62) << (5 * WHEEL_BITS + WHEEL_SHIFT)) /* as far as timers can be set ahead */

struct model {
	int64_t at[TIMERS]; /* UNSET where it is not set */
	int64_t now;
};

/* With as many steps as it takes. */
static uint32_t all_pop(struct wheel *w, int64_t now) {
	uint32_t steps = UINT32_MAX;

	return wheel_pop(w, now, &steps);
}

/* How far ahead timers are set: from the finest slots to the coarsest. */
static int64_t some_time(struct random *r) {
	unsigned bits = random_between(r, 1, 50);
	uint64_t far = (uint64_t)random_below(r, UINT32_MAX) << 20 | random_below(r, 1 << 20);

	return (int64_t)(far & ((UINT64_C(1) << bits) - 1));
}

/* All that expired is due, and all that is due for longer than a slot has expired, unless the steps
 * were too few. */
static void expire(struct model *m, struct wheel *w, uint32_t steps) {
	uint32_t timer, before = steps, popped = 0;

	while ((timer = wheel_pop(w, m->now, &steps)) != NONE) {
		assert_true(timer < TIMERS && m->at[timer] != UNSET);
		assert_true(m->at[timer] <= m->now);
		assert_false(wheel_is_set(w, timer));
		m->at[timer] = UNSET;
		popped++;
	}
	assert_true(before - steps >= popped);
	if (steps == 0)
		return;
	for (uint32_t t = 0; t < TIMERS; t++)
		assert_true(m->at[t] == UNSET || m->at[t] + SLOT > m->now);
}

static void check_next(const struct model *m, const struct wheel *w) {
	int64_t first = UNSET;

	for (uint32_t t = 0; t < TIMERS; t++) {
		assert_int_equal(wheel_is_set(w, t), m->at[t] != UNSET);
		first = m->at[t] < first ? m->at[t] : first;
	}
	if (first == UNSET)
		assert_true(wheel_next(w) == INT64_MAX);
	else
		assert_true(wheel_next(w) <= (first > m->now ? first : m->now) + 2 * SLOT);
}

TEST(agrees_with_a_list) {
	struct random r = {1};
	struct model m = {.now = 0};
	struct wheel w;

	assert_int_equal(wheel_create(&w, TIMERS), 0);
	for (uint32_t t = 0; t < TIMERS; t++)
		m.at[t] = UNSET;
	for (int step = 0; step < 200000; step++) {
		uint32_t timer = random_below(&r, TIMERS);

		switch (random_below(&r, 4)) {
		case 0:
		case 1:
			m.at[timer] = m.now + some_time(&r);
			wheel_set(&w, timer, m.at[timer]);
			break;
		case 2:
			wheel_clear(&w, timer);
			m.at[timer] = UNSET;
			break;
		default:
			m.now += some_time(&r) >> random_below(&r, 40);
			expire(&m, &w, random_below(&r, 3) == 0 ? random_below(&r, 9) : UINT32_MAX);
		}
		if (step % 16 == 0)
			check_next(&m, &w);
	}
	wheel_free(&w);
}

/* A timer in the past expires with the next slot, one beyond the wheel's turn early rather than never. */
TEST(takes_any_time) {
	struct wheel w;

	assert_int_equal(wheel_create(&w, 3), 0);
	assert_true(all_pop(&w, 100 * SLOT) == NONE);
	wheel_set(&w, 0, -5);
	wheel_set(&w, 1, 3 * SLOT);
	wheel_set(&w, 2, INT64_MAX - SLOT);
	assert_true(all_pop(&w, 100 * SLOT) == NONE);
	assert_int_equal(all_pop(&w, 101 * SLOT) + all_pop(&w, 101 * SLOT), 0 + 1);
	assert_true(all_pop(&w, 101 * SLOT) == NONE);
	assert_int_equal(all_pop(&w, INT64_MAX - 1), 2);
	wheel_free(&w);
}

/* Whatever is set before the end of a turn of the wheel for after it expires there, and not before. */
TEST(turns_without_end) {
	struct wheel w;

	assert_int_equal(wheel_create(&w, 64), 0);
	for (int turn = 1; turn < 5; turn++) {
		int64_t end = turn * WHEEL_TURN;

		assert_true(all_pop(&w, end - 3 * SLOT) == NONE);
		for (uint32_t t = 0; t < 50; t++)
			wheel_set(&w, t, end + (SLOT << t / 2));
		assert_true(all_pop(&w, end) == NONE);
		for (uint32_t t = 0; t < 50; t++)
			assert_int_equal(all_pop(&w, end + (SLOT << t / 2)) / 2, t / 2);
		assert_true(wheel_next(&w) == INT64_MAX);
	}
	wheel_rebase(&w, 3 * WHEEL_TURN);
	wheel_set(&w, 7, WHEEL_TURN + FAR / 2);
	assert_true(all_pop(&w, WHEEL_TURN + FAR / 2 - SLOT) == NONE);
	assert_int_equal(all_pop(&w, WHEEL_TURN + FAR / 2), 7);
	wheel_free(&w);
}
