/* SPDX-License-Identifier: BSD-3-Clause */
/* What has waited comes by at the end of its own row, in whichever row its wait ends, for those who look on. */
#include "test.h"

#include <string.h>

#include "fixture.h"
#include "upstream_bench.h"

#define SIZE 120 /* of the Ethernet frames */
#define NUMBERED 3 /* streams: without segment headers, */
#define SEGMENTS 4 /* and with them */

static struct upstream_bench storage, *const bench = &storage;
static unsigned seen[PIPELINE_MAX_STAGES]; /* packets, by row */
static uint32_t stage;

static void passed(struct tap *tap, unsigned boundary, struct rte_mbuf *const *pkts, uint16_t n) {
	(void)tap;
	(void)pkts;
	assert_true(boundary % 2 == TAP_OUT);
	seen[boundary / 2] += n;
}

static struct tap tap = {.passed = passed, .stage = &stage};
static const struct tap_list all_ends = {&tap, 0, 0, UINT32_MAX};

static void setup(void) {
	bench_open(bench);
	memset(seen, 0, sizeof(seen));
	bench->u->list.tap = &all_ends;
}

static unsigned seen_of(const char *row) {
	for (unsigned i = 0; i < us_lists[0].count; i++) {
		if (strcmp(us_lists[0].stages[i].name, row) == 0)
			return seen[i];
	}
	fail_msg("no row %s", row);
	return 0;
}

static void expect_seen(unsigned bursts, unsigned segments, unsigned frames) {
	assert_int_equal(seen_of("uepi"), bursts);
	assert_int_equal(seen_of("reassemble"), segments);
	assert_int_equal(seen_of("extract"), frames);
	assert_int_equal(seen_of("transmit"), frames);
}

/* The stream's next frame in a burst of its own, whose packet has the number. */
static void packet(uint16_t number) {
	uint8_t bytes[BENCH_FRAME_MAX];
	size_t size = bench_mac(bench, NUMBERED, SIZE, bytes);
	struct bench_psp p;

	psp_open(&p, BENCH_SC_QAM);
	p.numbered = true;
	p.sequence = number;
	psp_add_header(bench, &p, bench_streams[NUMBERED].sid);
	psp_add(&p, false, false, bytes, size);
	psp_add_trailer(bench, &p);
	psp_send(bench, &p);
	bench_settle(bench);
}

static void bursts_that_waited(void **state) {
	(void)state;
	setup();
	packet(10);
	packet(12);
	packet(13);
	expect_seen(1, 1, 1);
	bench_after(bench, 5 * BENCH_MS);
	bench_complete(bench, NUMBERED);
	expect_seen(3, 3, 3);
	bench_close(bench);
}

static void segment(unsigned ahead) {
	uint8_t bytes[BENCH_FRAME_MAX];
	size_t size = bench_mac(bench, SEGMENTS, SIZE, bytes);

	bench->segment[SEGMENTS] += (uint16_t)ahead;
	bench_segment(bench, SEGMENTS, 0, bytes, size);
	bench_settle(bench);
}

static void segments_that_waited(void **state) {
	(void)state;
	setup();
	segment(0);
	segment(1);
	segment(0);
	expect_seen(3, 1, 1);
	bench_after(bench, 20 * BENCH_MS);
	bench_complete(bench, SEGMENTS);
	expect_seen(3, 3, 3);
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bursts_that_waited),
		cmocka_unit_test(segments_that_waited),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
