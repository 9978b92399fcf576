/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same where cards bring packets to queues of the groups: a rule that a card does not take is no reason to refuse a
 * reload, as software tells its packets apart.
 */
#include "fault_reload.h"

#include "steering_bench.h"

static enum steered_by by;

static void fault_open(unsigned there) {
	flow_card_reset();
	steering_bench_open(bench, by, there, GROUPS);
}

static void fault_close(void) {
	steering_bench_close(bench);
}

static void in_an_edit(void **state) {
	(void)state;
	by = STEERED_BY_SESSION;
	fault_open_with(2, 2, 2);
	fault_edit(&others[0]);
	fault_edit(&others[1]);
	fault_close_all("steered: edit of two groups");
}

static void in_groups_that_come(void **state) {
	(void)state;
	by = STEERED_BY_VLAN;
	fault_open_with(2, 2, 4);
	fault_close_all("steered: two groups that come");
}

static void in_a_group_that_goes(void **state) {
	(void)state;
	by = STEERED_BY_MAC;
	fault_open_with(2, 3, 2);
	fault_close_all("steered: a group that goes");
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(in_an_edit),
		cmocka_unit_test(in_groups_that_come),
		cmocka_unit_test(in_a_group_that_goes),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
