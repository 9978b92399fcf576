/* SPDX-License-Identifier: BSD-3-Clause */
/* Rules by hand, on one shelf and without the lists that they would come from. */
#pragma once

#include "test.h"

#include <stdlib.h>

#include "downstream/rules/rules.h"

static inline void rules_plain(struct rules *r, const char *name, const struct rule *list,
			       size_t count) {
	struct rule_shelf *shelf = test_calloc(1, sizeof(*shelf));

	assert_int_equal(rules_acl_create(shelf->acl, name, list, count), 0);
	*r = (struct rules){{shelf}};
}

static inline void rules_plain_free(struct rules *r) {
	rules_acl_free(r->shelves[RULES_LARGE]->acl);
	test_free(r->shelves[RULES_LARGE]);
}
