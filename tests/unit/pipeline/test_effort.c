/* SPDX-License-Identifier: BSD-3-Clause */
/* What is noted of how the work was done. */
#include "test.h"

#include <rte_common.h>

#include "pipeline/effort.h"

/* A burst that came at once is no queue; one behind it is. */
static void full_polls_are_those_behind_full_ones(void **state) {
	static const uint16_t polls[] = {64, 0, 32, 31, 64, 32, 40, 8, 64};
	struct effort e = {0};

	(void)state;
	for (unsigned i = 0; i < RTE_DIM(polls); i++)
		effort_poll(&e, polls[i]);
	assert_int_equal(e.full_polls, 2);
	assert_int_equal(e.polls_useful, 8);
	assert_int_equal(e.polls_empty, 1);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(full_polls_are_those_behind_full_ones),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
