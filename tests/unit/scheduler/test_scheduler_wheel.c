/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the timer wheel against a plain list of times. */
#include "test_main.h"

#include "random.h"
#include "scheduler/wheel.h"

#define TIMERS 200
#define SLOT (INT64_C(1) << WHEEL_SHIFT)
#define UNSET INT64_MAX
#define FAR (INT64_C(62) << (5 * WHEEL_BITS + WHEEL_SHIFT)) /* farthest time of a timer */

struct model {
	int64_t at[TIMERS]; /* UNSET: not set */
	int64_t now;
};

/* Draws how far ahead a timer is set: from the finest slots to beyond the span of the wheel. */
static int64_t draw_time(struct random *r) {
	unsigned bits = random_between(r, 1, 57);
	uint64_t far = (uint64_t)random_next(r) << 26 | random_below(r, 1 << 26);

	return (int64_t)(far & ((UINT64_C(1) << bits) - 1));
}

/* A timer in the past expires with the next slot, one beyond the span of the wheel early. */
static void set_timer(struct model *m, struct wheel *w, uint32_t timer, int64_t at) {
	const int64_t present = (int64_t)w->now << WHEEL_SHIFT;

	wheel_set(w, timer, at);
	at = at < present + SLOT ? present + SLOT : at;
	m->at[timer] = at < present + FAR ? at : present + FAR;
}

/* Expired timers must be due. Unless `steps` ran out, all that are due for a slot have expired. */
static void expire(struct model *m, struct wheel *w, uint32_t steps) {
	const int64_t next = wheel_next(w);
	uint32_t timer, before = steps, popped = 0;

	while ((timer = wheel_pop(w, m->now, &steps)) != NONE) {
		assert_true(timer < TIMERS && m->at[timer] != UNSET);
		assert_true(m->at[timer] <= m->now && next <= m->now);
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

/* wheel_next() is at most two slots behind the first timer. */
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

TEST(wheel_agrees_with_list) {
	struct random r = {1};
	struct model m = {.now = 0};
	struct wheel w;

	assert_int_equal(wheel_create(&w, TIMERS), 0);
	for (uint32_t t = 0; t < TIMERS; t++)
		m.at[t] = UNSET;
	for (int step = 0; step < 200000; step++) {
		uint32_t timer = random_below(&r, TIMERS), steps = UINT32_MAX;
		int64_t back;

		switch (random_below(&r, 8)) {
		case 0: set_timer(&m, &w, timer, m.now - draw_time(&r)); break;
		case 1:
		case 2:
		case 3: set_timer(&m, &w, timer, m.now + draw_time(&r)); break;
		case 4:
		case 5:
			wheel_clear(&w, timer);
			m.at[timer] = UNSET;
			break;
		default:
			m.now += draw_time(&r) >> random_below(&r, 40);
			steps = random_below(&r, 3) == 0 ? random_below(&r, 9) : steps;
			expire(&m, &w, steps);
			if (steps < UINT32_MAX || m.now <= 8 * WHEEL_SPAN)
				break;
			back = random_between(&r, 1, 8) * WHEEL_SPAN;
			wheel_rebase(&w, back);
			m.now -= back;
			for (uint32_t t = 0; t < TIMERS; t++)
				m.at[t] -= m.at[t] == UNSET ? 0 : back;
		}
		if (step % 16 == 0)
			check_next(&m, &w);
	}
	wheel_free(&w);
}
