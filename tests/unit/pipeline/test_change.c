/* SPDX-License-Identifier: BSD-3-Clause */
/* Phases of a change against a model: random lists, costs and budgets, stopped and continued at each item. */
#include "test_main.h"

#include <rte_common.h>
#include <stdlib.h>

#include "pipeline/change.h"

#define ROUNDS 2000
#define MOST_ITEMS 12

enum { FIRST, CONDITION, SECOND, THIRD, PHASES };

/* What the phases do, and what is expected of them. */
struct plan {
	uint32_t items[PHASES];
	int cost[PHASES][MOST_ITEMS];
	unsigned parts[PHASES][MOST_ITEMS]; /* in which an item is done, at least 1 */
	unsigned waits; /* parts until the condition is met */
	unsigned done[PHASES];
	int spent, last; /* ns of this part, and its last item's */
};

static bool do_item(struct plan *p, unsigned phase, struct change_cursor *cursor) {
	assert_int_equal(cursor->phase, phase);
	assert_int_equal(cursor->at, p->done[phase]);
	for (unsigned before = 0; before < phase; before++)
		assert_int_equal(p->done[before], p->items[before]);
	p->last = p->cost[phase][cursor->at];
	p->spent += p->last;
	cursor->left -= p->last;
	if (--p->parts[phase][cursor->at] > 0)
		return false;
	p->done[phase]++;
	return true;
}

static bool first(void *plan, struct change_cursor *cursor) {
	return do_item(plan, FIRST, cursor);
}

static uint32_t firsts(const void *plan) {
	return ((const struct plan *)plan)->items[FIRST];
}

static bool waited(void *plan, struct change_cursor *cursor) {
	struct plan *p = plan;

	(void)cursor;
	assert_int_equal(p->done[FIRST], p->items[FIRST]);
	p->done[CONDITION] = p->waits == 0;
	p->waits -= p->waits > 0;
	return p->done[CONDITION];
}

static bool second(void *plan, struct change_cursor *cursor) {
	return do_item(plan, SECOND, cursor);
}

static uint32_t seconds(const void *plan) {
	return ((const struct plan *)plan)->items[SECOND];
}

/* Does up to two items at once. */
static bool third(void *plan, struct change_cursor *cursor) {
	struct plan *p = plan;

	if (!do_item(p, THIRD, cursor))
		return false;
	if (cursor->at + 1 < p->items[THIRD] && p->parts[THIRD][cursor->at + 1] == 1) {
		cursor->at++;
		do_item(p, THIRD, cursor);
	}
	return true;
}

static uint32_t thirds(const void *plan) {
	return ((const struct plan *)plan)->items[THIRD];
}

static const struct change_phase phases[] = {
	[FIRST] = {.step = first, .count = firsts},
	[CONDITION] = {.step = waited},
	[SECOND] = {.step = second, .count = seconds},
	[THIRD] = {.step = third, .count = thirds},
};

static struct plan random_plan(void) {
	struct plan p = {.waits = (unsigned)rand() % 4};

	for (unsigned i = 0; i < PHASES; i++) {
		p.items[i] = i == CONDITION ? 1 : (uint32_t)rand() % (MOST_ITEMS + 1);
		for (unsigned k = 0; k < MOST_ITEMS; k++) {
			p.cost[i][k] = rand() % 50;
			p.parts[i][k] = rand() % 8 == 0 ? 2 : 1;
		}
	}
	return p;
}

static bool is_done(const struct plan *p) {
	for (unsigned i = 0; i < PHASES; i++) {
		if (p->done[i] != p->items[i])
			return false;
	}
	return true;
}

/* One part. Returns whether it was the last. */
static bool part(struct plan *p, struct change_cursor *cursor, int budget) {
	bool last;

	p->spent = p->last = 0;
	last = change_run(cursor, phases, RTE_DIM(phases), p, budget);
	assert_int_equal(last, is_done(p));
	assert_int_equal(cursor->left, budget - p->spent);
	/* The last call of a step begins within the budget; one of THIRD may do two items. */
	assert_true(p->spent < budget + 2 * 50);
	return last;
}

/* Each item once and in its order, within the budget, whatever the budgets are; then nothing more. */
TEST(each_item_is_done_once) {
	srand(41);
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct plan p = random_plan();
		struct change_cursor cursor = {0};
		unsigned parts = 0;

		while (!part(&p, &cursor, 1 + rand() % 200))
			assert_true(++parts < 200);
		assert_true(part(&p, &cursor, 1));
		assert_int_equal(p.spent, 0);
	}
}

/* Items wait for a budget, a condition does not. */
TEST(without_budget_conditions_are_asked) {
	struct plan p = {.items = {[CONDITION] = 1, [SECOND] = 1}, .parts = {[SECOND] = {1}}};
	struct change_cursor cursor = {0};

	assert_false(part(&p, &cursor, 0));
	assert_int_equal(p.done[CONDITION], 1);
	assert_int_equal(p.done[SECOND], 0);
	assert_int_equal(cursor.phase, SECOND);
	assert_true(part(&p, &cursor, 1));
}
