/* SPDX-License-Identifier: BSD-3-Clause */
/* Upstream: what no test saw when `make mutants` broke it. */
#include "test.h"

#include <string.h>

#include "upstream/shared/order.h"

#include "fixture.h"
#include "upstream_bursts.h"

/* What a trailer says of FEC counts where it says that it is valid. */
static void codewords_that_are_not_valid(void **state) {
	struct uepi_trailer t = {.flags = UEPI_SNR_VALID, .fec_uncorrectable = 3};
	uint8_t bytes[UEPI_TRAILER_MAX];

	(void)state;
	setup();
	for (unsigned valid = 0; valid < 2; valid++) {
		t.flags |= valid ? UEPI_FEC_VALID : 0;
		header();
		frame();
		psp_add(&psp, false, true, bytes, uepi_trailer_write(UEPI_SC_QAM, &t, bytes));
		go();
		assert_int_equal(bench_count(bench, COUNTER_FEC_UNCORRECTABLE), valid ? 3 : 0);
	}
	finish(2, 2);
}

/* Who was silent for long may have begun anew: the first number counts, however late it is. */
static void silence_is_a_new_beginning(void **state) {
	uint64_t now = ORDER_SILENCE;
	struct order o;
	bool reordered;

	(void)state;
	order_init(&o, UINT16_MAX, 32);
	order_time(&o, now);
	assert_int_equal(order_take(&o, 100, NULL, &reordered), ORDER_NEXT);
	now += ORDER_SILENCE - 1;
	order_time(&o, now);
	assert_int_equal(order_take(&o, 90, NULL, &reordered), ORDER_LATE);
	now += ORDER_SILENCE;
	order_time(&o, now);
	assert_int_equal(order_take(&o, 91, NULL, &reordered), ORDER_RESTART);
}

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
		cmocka_unit_test(codewords_that_are_not_valid),
		cmocka_unit_test(what_was_made_is_freed),
		cmocka_unit_test(tables_where_something_was),
		cmocka_unit_test(silence_is_a_new_beginning),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
