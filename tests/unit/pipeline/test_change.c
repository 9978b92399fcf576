/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests change_run() with random items, costs and budgets: each item of each phase is processed once, in order. */
#include "test_main.h"

#include "pipeline/change.h"

#define CHANGES 2000
#define MAX_ITEMS 12
#define MAX_COST 50

enum { FIRST, CONDITION, SECOND, PHASES };

/* The change: its items, and those processed so far. */
struct plan {
	uint32_t items[PHASES];
	unsigned incomplete_calls[PHASES][MAX_ITEMS]; /* calls in which an item is not complete */
	unsigned done[PHASES];
	int spent; /* ns, in this step of the worker */
};

static bool process_item(void *plan, struct change_cursor *cursor) {
	struct plan *p = plan;
	unsigned phase = cursor->phase;
	int cost = phase == CONDITION ? 0 : rand() % MAX_COST;

	assert_int_equal(cursor->at, p->done[phase]);
	for (unsigned before = 0; before < phase; before++)
		assert_int_equal(p->done[before], p->items[before]);
	p->spent += cost;
	cursor->left -= cost;
	if (p->incomplete_calls[phase][cursor->at] > 0) {
		p->incomplete_calls[phase][cursor->at]--;
		return false;
	}
	p->done[phase]++;
	return true;
}

/* Processes up to two items per call. */
static bool process_two_items(void *plan, struct change_cursor *cursor) {
	const struct plan *p = plan;

	if (!process_item(plan, cursor))
		return false;
	if (cursor->at + 1 < p->items[SECOND] && p->incomplete_calls[SECOND][cursor->at + 1] == 0) {
		cursor->at++;
		process_item(plan, cursor);
	}
	return true;
}

CHANGE_COUNT(first_items, struct plan, items[FIRST])
CHANGE_COUNT(second_items, struct plan, items[SECOND])

/* Runs one step of the worker. Returns whether the change is complete. */
static bool run_step(struct plan *p, struct change_cursor *cursor, int budget) {
	static const struct change_phase phases[PHASES] = {
		[FIRST] = {.step = process_item, .count = first_items},
		[CONDITION] = {.step = process_item},
		[SECOND] = {.step = process_two_items, .count = second_items},
	};
	bool last;

	p->spent = 0;
	last = change_run(cursor, phases, PHASES, p, budget);
	assert_int_equal(last, memcmp(p->done, p->items, sizeof(p->done)) == 0);
	assert_int_equal(cursor->left, budget - p->spent);
	/* the last call begins within the budget, and may process two items */
	assert_true(p->spent < budget + 2 * MAX_COST);
	return last;
}

TEST(each_item_is_processed_once_in_order) {
	srand(41);
	for (unsigned i = 0; i < CHANGES; i++) {
		struct plan p = {.items[CONDITION] = 1};
		struct change_cursor cursor = {0};
		unsigned steps = 0;

		for (unsigned k = 0; k < PHASES * MAX_ITEMS; k++)
			p.incomplete_calls[k % PHASES][k / PHASES] = rand() % 8 == 0;
		p.items[FIRST] = (uint32_t)rand() % (MAX_ITEMS + 1);
		p.items[SECOND] = (uint32_t)rand() % (MAX_ITEMS + 1);
		while (!run_step(&p, &cursor, 1 + rand() % 200))
			assert_true(++steps < 200);
		assert_true(run_step(&p, &cursor, 1));
		assert_int_equal(p.spent, 0);
	}
}

TEST(conditions_are_checked_without_budget) {
	struct plan p = {.items = {[CONDITION] = 1, [SECOND] = 1}};
	struct change_cursor cursor = {0};

	assert_false(run_step(&p, &cursor, 0));
	assert_int_equal(cursor.phase, SECOND);
	assert_int_equal(p.done[SECOND], 0);
	assert_true(run_step(&p, &cursor, 1));
}
