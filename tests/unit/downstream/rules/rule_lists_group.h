/* SPDX-License-Identifier: BSD-3-Clause */
/* Service groups whose modems have nothing but addresses and classifiers, and the lists that these make. */
#pragma once

#include "test.h"

#include <string.h>

#include "downstream/rules/rule_lists.h"
#include "downstream/rules/rules.h"

#define MODEMS 40
#define CLASSIFIERS 8
#define ADDRESSES 5

/* A service group with room for so many, laid out by hand. */
struct group {
	struct service_group sg;
	struct modem modems[MODEMS];
	struct classifier classifiers[MODEMS][CLASSIFIERS];
	struct ip_address addresses[MODEMS][ADDRESSES];
};

/* The lists of all of them, by modem; and the rules one behind the other. */
struct taken {
	struct rule_lists lists;
	uint32_t of[MODEMS];
	struct rule rules[MODEMS * CLASSIFIERS];
	size_t rule_count;
};

static inline struct group *group_new(size_t modems) {
	struct group *g = test_calloc(1, sizeof(*g));

	for (size_t m = 0; m < modems; m++) {
		g->modems[m].classifiers = g->classifiers[m];
		g->modems[m].addresses = g->addresses[m];
	}
	g->sg.modems = g->modems;
	g->sg.modem_count = modems;
	return g;
}

static inline void classifiers_take(struct taken *t, const struct group *g) {
	memset(t, 0, sizeof(*t));
	assert_int_equal(rule_lists_create(&t->lists), 0);
	for (size_t m = 0; m < g->sg.modem_count; m++) {
		t->of[m] = rule_lists_take_classifiers(&t->lists, &g->modems[m]);
		assert_in_range(t->of[m], 0, m);
	}
	for (uint32_t n = 0; n < t->lists.count; n++) {
		const struct rule_list *list = &t->lists.all[n];

		for (size_t i = 0; i < list->count; i++)
			t->rules[t->rule_count++] =
				(struct rule){&list->lines[i].match, n, list->lines[i].result};
	}
	assert_int_equal(t->rule_count, t->lists.rule_count);
}
