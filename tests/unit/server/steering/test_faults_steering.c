/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same where cards bring packets to queues of the groups: a rule that a card does not take is no reason to refuse a
 * reload, as software tells its packets apart.
 */
#include "fault_reload.h"
#include "test_main.h"

static const struct fault_case cases[] = {
	{"steered: edit of two groups", 2, 2, 2, edit_two, STEERED_BY_SESSION, false},
	{"steered: two groups that come", 2, 2, 4, NULL, STEERED_BY_VLAN, false},
	{"steered: a group that goes", 2, 3, 2, NULL, STEERED_BY_MAC, false},
};

TEST(in_each_kind_of_reload) {
	try_cases(cases, ARRAY_COUNT(cases));
}

ALL_TESTS(NULL, fixture_stop)
