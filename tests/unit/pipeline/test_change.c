/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases of a change: random lists, costs and budgets, stopped and continued at each item. */
#include "test_main.h"

#include "pipeline/change.h"

#define ROUNDS 2000
#define MOST_ITEMS 12
#define MOST_COST 50

enum { FIRST, CONDITION, SECOND, PHASES };

/* What the phases do, and what is expected of them. */
struct plan {
	uint32_t items[PHASES];
	unsigned waits[PHASES][MOST_ITEMS]; /* calls of the step before an item's last one */
	unsigned done[PHASES];
	int spent; /* ns of this part */
};

static bool step(void *plan, struct change_cursor *cursor) {
	struct plan *p = plan;
	unsigned phase = cursor->phase;
	int cost = phase == CONDITION ? 0 : rand() % MOST_COST;

	assert_int_equal(cursor->at, p->done[phase]);
	for (unsigned before = 0; before < phase; before++)
		assert_int_equal(p->done[before], p->items[before]);
	p->spent += cost;
	cursor->left -= cost;
	if (p->waits[phase][cursor->at] > 0) {
		p->waits[phase][cursor->at]--;
		return false;
	}
	p->done[phase]++;
	return true;
}

/* Does up to two items at once. */
static bool step_twice(void *plan, struct change_cursor *cursor) {
	const struct plan *p = plan;

	if (!step(plan, cursor))
		return false;
	if (cursor->at + 1 < p->items[SECOND] && p->waits[SECOND][cursor->at + 1] == 0) {
		cursor->at++;
		step(plan, cursor);
	}
	return true;
}

CHANGE_COUNT(firsts, struct plan, items[FIRST])
CHANGE_COUNT(seconds, struct plan, items[SECOND])

/* One part. Returns whether it was the last. */
static bool part(struct plan *p, struct change_cursor *cursor, int budget) {
	static const struct change_phase phases[PHASES] = {
		[FIRST] = {.step = step, .count = firsts},
		[CONDITION] = {.step = step},
		[SECOND] = {.step = step_twice, .count = seconds},
	};
	bool last;

	p->spent = 0;
	last = change_run(cursor, phases, PHASES, p, budget);
	assert_int_equal(last, memcmp(p->done, p->items, sizeof(p->done)) == 0);
	assert_int_equal(cursor->left, budget - p->spent);
	/* the last call of a step begins within the budget, and may do two items */
	assert_true(p->spent < budget + 2 * MOST_COST);
	return last;
}

TEST(each_item_is_done_once) {
	srand(41);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct plan p = {.items[CONDITION] = 1};
		struct change_cursor cursor = {0};
		unsigned parts = 0;

		for (unsigned k = 0; k < PHASES * MOST_ITEMS; k++)
			p.waits[k % PHASES][k / PHASES] = rand() % 8 == 0;
		p.items[FIRST] = (uint32_t)rand() % (MOST_ITEMS + 1);
		p.items[SECOND] = (uint32_t)rand() % (MOST_ITEMS + 1);
		while (!part(&p, &cursor, 1 + rand() % 200))
			assert_true(++parts < 200);
		assert_true(part(&p, &cursor, 1));
		assert_int_equal(p.spent, 0);
	}
}

TEST(without_budget_conditions_are_asked) {
	struct plan p = {.items = {[CONDITION] = 1, [SECOND] = 1}};
	struct change_cursor cursor = {0};

	assert_false(part(&p, &cursor, 0));
	assert_int_equal(cursor.phase, SECOND);
	assert_int_equal(p.done[SECOND], 0);
	assert_true(part(&p, &cursor, 1));
}
