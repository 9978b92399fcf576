/* SPDX-License-Identifier: BSD-3-Clause */
/* Tables are made in memory of any content. */
#include "upstream_cases.h"

/* What stood in the place of the tables before says nothing. */
static void tables_where_something_was(void) {
	struct us_tables t;

	bench_open(bench);
	bench_close(bench); /* the tables of a group have names */
	memset(&t, 0xa5, sizeof(t));
	assert_int_equal(us_tables_create(&t, &bench->sg, NULL, bench->schedules), 0);
	assert_int_equal(t.stream_count, BENCH_STREAMS + 1);
	assert_ptr_equal(us_stream_of_sid(&t, 0, bench_streams[PLAIN].sid), &t.streams[PLAIN]);
	us_tables_free(&t);
}

int main(void) {
	static const struct bench_case cases[] = {
		BENCH_CLOSED(tables_where_something_was),
	};

	return bench_run(cases, ARRAY_COUNT(cases), NULL);
}
