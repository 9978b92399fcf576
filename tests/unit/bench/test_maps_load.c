/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests maps_load.c: a run that fails prints the reason. */
#include <stdio.h>

#include "test_main.h"

#include "maps_load.h"

#include "failing_allocations.h"

/* Returns whether the run succeeded; asserts that otherwise it printed a line. */
static bool run_case(void *printed) {
	FILE *console = stderr;
	long before = ftell(printed);
	struct maps_tally tally;
	int ret;

	stderr = printed;
	ret = maps_load_run(&maps_cases[0], 1, &tally);
	stderr = console;
	assert_true((ret == 0) == (ftell(printed) == before));
	return ret == 0;
}

TEST(failed_run_prints_reason) {
	static char text[4096];
	FILE *printed = fmemopen(text, sizeof(text), "w");

	assert_non_null(printed);
	setvbuf(printed, NULL, _IONBF, 0);
	fail_each_allocation(run_case, printed);
	assert_non_null(strstr(text, "300 modems, 4 channels, 2 ms: memory is short\n"));
	fclose(printed);
}
