/* SPDX-License-Identifier: BSD-3-Clause */
/* What has waited comes by at the end of its own row, in whichever row its wait ends, for those who look on. */

#include "upstream_cases.h"

#define SIZE 120 /* of the Ethernet frames */

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

static void look_on(void) {
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

EACH_CASE(look_on)

CASE(bursts_that_waited) {
	static const uint16_t numbers[] = {10, 12, 13};

	for (size_t i = 0; i < ARRAY_COUNT(numbers); i++) {
		struct bench_psp p;

		bench_packet(&p, PLAIN, SIZE);
		p.numbered = true;
		p.sequence = numbers[i];
		bench_handle_packet(&p);
	}
	expect_seen(1, 1, 1);
	bench_after(bench, 5 * BENCH_MS);
	bench_complete(bench, PLAIN);
	expect_seen(3, 3, 3);
}

CASE(segments_that_waited) {
	for (unsigned ahead = 0; ahead < 3; ahead++) {
		bench->segment[FRAMED] += ahead % 2;
		bench_whole(FRAMED, SIZE);
	}
	expect_seen(3, 1, 1);
	bench_after(bench, 20 * BENCH_MS);
	bench_complete(bench, FRAMED);
	expect_seen(3, 3, 3);
}
