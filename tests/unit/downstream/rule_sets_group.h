/* SPDX-License-Identifier: BSD-3-Clause */
/* Service groups whose modems have nothing but addresses and classifiers. */
#pragma once

#include "test.h"

#include "downstream/rule_sets.h"

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

static inline struct rule_sets classifiers_of(const struct group *g) {
	struct rule_sets sets;

	assert_int_equal(rule_sets_classifiers(&sets, &g->sg), 0);
	return sets;
}
