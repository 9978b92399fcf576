/* SPDX-License-Identifier: BSD-3-Clause */
/* An upstream is created in memory of any content, and frees all that it took. */
#include "test.h"

#include <string.h>

#include "fixture.h"
#include "upstream_bursts.h"

/* What stood in the place of the tables before says nothing. */
static void tables_where_something_was(void **state) {
	struct us_tables t;

	(void)state;
	setup();
	finish(0, 0);
	memset(&t, 0xa5, sizeof(t));
	assert_int_equal(us_tables_create(&t, &bench->sg, NULL, bench->schedules), 0);
	assert_int_equal(t.stream_count, BENCH_STREAMS + 1);
	assert_ptr_equal(us_stream_of_sid(&t, 0, SID), &t.streams[STREAM]);
	us_tables_free(&t);
}

/* An upstream leaves nothing in DPDK's memory. */
static void what_was_made_is_freed(void **state) {
	struct rte_malloc_socket_stats before, after;
	struct us_resources r;

	(void)state;
	setup();
	r = bench->u->r;
	upstream_free(bench->u);
	before = fixture_memory();
	bench->u = upstream_create(&bench->sg, &r);
	assert_non_null(bench->u);
	after = fixture_memory();
	assert_true(after.alloc_count > before.alloc_count);
	upstream_free(bench->u);
	after = fixture_memory();
	assert_int_equal(after.alloc_count, before.alloc_count);
	assert_int_equal(after.heap_allocsz_bytes, before.heap_allocsz_bytes);
	bench->u = upstream_create(&bench->sg, &r);
	finish(0, 0);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_made_is_freed),
		cmocka_unit_test(tables_where_something_was),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
