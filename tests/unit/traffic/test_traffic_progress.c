/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests progress.h: the text of a progress line. */
#include "progress.h"

#include "test_main.h"

static const char *line_of(const struct run *run, bool downstream, bool upstream) {
	static char text[PROGRESS_LINE];
	struct progress_lines lines = {
		.run = run, .downstream = downstream, .upstream = upstream, .down = 1000};

	progress_line(&lines, 12.04, 2, text);
	return text;
}

TEST(line_has_rates_since_the_last_line_and_counts_of_both_directions) {
	struct run run = {
		.downstream = {.sent_bytes = 500001000, .proven = 27000000, .lost = 3},
		.upstream = {.sent_bytes = 12500000, .proven = 208797},
	};

	assert_string_equal(line_of(&run, true, true),
			    "  12 s  2.00 Gbps down, 50.00 Mbps up; 27,208,797 proven, 3 lost\n");
	assert_string_equal(line_of(&run, false, true),
			    "  12 s 50.00 Mbps up; 27,208,797 proven, 3 lost\n");
	run.send_only = true;
	assert_string_equal(line_of(&run, true, false), "  12 s  2.00 Gbps down sent\n");
}

/* The words are those of the results. */
TEST(faults_are_listed_by_name_if_there_are_any) {
	struct run run = {
		.downstream = {.sent_bytes = 1000, .proven = 999, .overtaken = 2231},
		.upstream = {.overtaken = 1, .corrupted = 2},
	};

	assert_string_equal(line_of(&run, true, false),
			    "  12 s  0.00 Mbps down;        999 proven, 0 lost, 2,232 overtaken, 2 "
			    "corrupted\n");
	run.upstream = (struct progress){.duplicated = 4, .reordered = 5};
	run.downstream.overtaken = 0;
	assert_non_null(strstr(line_of(&run, true, false), " 0 lost, 4 duplicated, 5 reordered\n"));
	run.downstream = (struct progress){.undecipherable = 6};
	run.upstream = (struct progress){.proven = 1};
	assert_non_null(
		strstr(line_of(&run, true, false), " 1 proven, 0 lost, 6 undecipherable\n"));
}

TEST(line_has_at_most_79_columns) {
	struct run run;
	uint64_t *counts = (uint64_t *)&run.downstream;
	const char *text;

	memset(&run, 0, sizeof(run));
	for (size_t i = 0; i < sizeof(run.downstream) / sizeof(*counts); i++)
		counts[i] = 2231;
	run.downstream.sent_bytes = UINT64_C(2500000000);
	run.downstream.proven = UINT64_C(27208797);
	text = line_of(&run, true, true);
	assert_in_range(strlen(text), 70, 80);
	assert_non_null(strstr(text, " lost, and more\n"));
	run.downstream.overtaken = 0;
	assert_non_null(strstr(line_of(&run, true, true), " lost, and more\n"));
}
