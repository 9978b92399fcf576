/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Lists come and go, the rules are built again and again: each packet has the answer of the list that its
 * number means at that time, and the large shelf is not built for each change.
 */
#include "test.h"

#include <string.h>

#include "downstream/rules/rules.h"

#include "fixture.h"
#include "match_model.h"
#include "random.h"

#define USERS 60
#define MOST_RULES 12
#define CHANGES 600
#define PACKETS 40

/* What somebody has: a list of rules, and its number. */
struct user {
	struct match matches[MOST_RULES];
	struct rule rules[MOST_RULES];
	size_t count;
	uint32_t number;
};

static struct user users[USERS];
static struct rule_lists lists;
static struct rules rules;
static struct random random_state = {4711};

/* One of few, so that some are alike. */
static void user_takes(struct user *u) {
	struct random own = {random_below(&random_state, 30)};

	u->count = random_below(&own, MOST_RULES + 1);
	for (size_t i = 0; i < u->count; i++) {
		u->matches[i] =
			random_match(&own, (enum rule_family)random_below(&own, RULE_FAMILIES));
		u->rules[i] = (struct rule){&u->matches[i], 0, 1 + (uint32_t)i};
		lists.lines[i] = (struct rule_line){u->matches[i], u->rules[i].result};
	}
	u->number = rule_lists_take(&lists, u->count);
	assert_int_not_equal(u->number, RULE_LIST_NONE);
}

/* What a change builds is little: no list stands on both shelves, and the small one has up to a quarter of the rules,
 * or 64. */
static void check_small(void) {
	const struct rule_shelf *large = rules.shelves[RULES_LARGE];
	const struct rule_shelf *small = rules.shelves[RULES_SMALL];

	for (uint32_t i = 0; small != NULL && large != NULL && i < small->list_count; i++) {
		for (uint32_t k = 0; k < large->list_count; k++)
			assert_int_not_equal(small->lists[i], large->lists[k]);
	}
	if (small != NULL)
		assert_in_range(small->rule_count, 1, 64 + lists.rule_count / 4);
}

static void publish(void) {
	struct rules next;

	assert_int_equal(rules_build(&next, "shelves", &lists, &rules), 0);
	rules_free(&rules, &next, &lists);
	rules = next;
	check_small();
}

static void ask(enum rule_family family) {
	struct rule_key keys[PACKETS];
	const uint8_t *pointers[PACKETS];
	uint32_t results[PACKETS], expected[PACKETS];
	uint16_t extensions[PACKETS];

	for (unsigned i = 0; i < PACKETS; i++) {
		const struct user *u = &users[random_below(&random_state, USERS)];
		struct packet p = random_packet(&random_state, family, 0);

		expected[i] = evaluate(u->rules, u->count, &p);
		p.set = u->number;
		key_of(&p, &keys[i]);
		extensions[i] = p.extensions;
		pointers[i] = (const uint8_t *)&keys[i];
	}
	rules_match(&rules, family, pointers, results, PACKETS);
	for (unsigned i = 0; i < PACKETS; i++) {
		if (extensions[i] != 0)
			results[i] = rules_match_chain(&rules, &keys[i], extensions[i]);
		assert_int_equal(results[i], expected[i]);
	}
}

static void answers_stay_right(void **state) {
	unsigned large = 0;

	(void)state;
	assert_int_equal(rule_lists_create(&lists), 0);
	for (unsigned u = 0; u < USERS; u++)
		user_takes(&users[u]);
	publish();
	for (unsigned c = 0; c < CHANGES; c++) {
		struct user *u = &users[random_below(&random_state, USERS)];
		const struct rule_shelf *before = rules.shelves[RULES_LARGE];
		uint32_t number = u->number;

		user_takes(u);
		rule_lists_give(&lists, number);
		publish();
		large += rules.shelves[RULES_LARGE] != before;
		for (int family = 0; family < RULE_FAMILIES; family++)
			ask((enum rule_family)family);
	}
	assert_in_range(large, 1, CHANGES / 5);
	assert_true(lists.count <= 2 * USERS); /* numbers came again */
}

/* All go: nothing is matched any more, and nothing is left. */
static void nobody_is_left(void **state) {
	(void)state;
	for (unsigned u = 0; u < USERS; u++) {
		rule_lists_give(&lists, users[u].number);
		users[u].count = 0;
	}
	publish();
	for (int family = 0; family < RULE_FAMILIES; family++)
		ask((enum rule_family)family);
	assert_null(rules.shelves[RULES_LARGE]);
	assert_null(rules.shelves[RULES_SMALL]);
	for (uint32_t n = 0; n < lists.count; n++)
		assert_null(lists.all[n].lines);
	rule_lists_free(&lists);
}

/* What was built and is not taken over leaves the old rules as they were. */
static void a_change_that_is_given_up(void **state) {
	struct rules next, none = {0};
	uint32_t first, second;

	(void)state;
	assert_int_equal(rule_lists_create(&lists), 0);
	lists.lines[0] = (struct rule_line){.match = {.family = RULE_LLC}, .result = 1};
	first = rule_lists_take(&lists, 1);
	assert_int_equal(rules_build(&rules, "given_up", &lists, &none), 0);
	lists.lines[0].result = 2;
	second = rule_lists_take(&lists, 1);
	assert_int_equal(rules_build(&next, "given_up", &lists, &rules), 0);
	assert_ptr_equal(next.shelves[RULES_LARGE], rules.shelves[RULES_LARGE]);
	assert_non_null(next.shelves[RULES_SMALL]);
	rules_free(&next, &rules, &lists);
	rule_lists_give(&lists, second);
	assert_null(lists.all[second].lines);
	assert_non_null(lists.all[first].lines);
	rule_lists_give(&lists, first);
	assert_non_null(lists.all[first].lines); /* rules in service have it */
	rules_free(&rules, NULL, &lists);
	assert_null(lists.all[first].lines);
	rule_lists_free(&lists);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers_stay_right),
		cmocka_unit_test(nobody_is_left),
		cmocka_unit_test(a_change_that_is_given_up),
	};

	return cmocka_run_group_tests(tests, fixture_start, NULL);
}
