/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of PSP: packets that come early, late, twice or never, by flow and by session. */
#include "upstream_cases.h"

#define PACKET 64 /* bytes of the packet in each burst */

/* A packet of one of our numbers. */
static void numbered(uint8_t flow, uint16_t number) {
	struct bench_psp p;

	bench_packet(&p, PLAIN, PACKET);
	p.numbered = true;
	p.flow = flow;
	p.sequence = number;
	bench_handle_packet(&p);
}

static void expect_gaps(uint64_t gaps, uint64_t missing, uint64_t reordered) {
	assert_int_equal(bench_count(bench, COUNTER_PSP_GAPS), gaps);
	assert_int_equal(bench_count(bench, COUNTER_PSP_MISSING), missing);
	assert_int_equal(bench_count(bench, COUNTER_PSP_REORDERED), reordered);
}

CASE(given_up_after_their_time, .lossy = true) {
	numbered(0, 10);
	bench->clock.now += 7;
	numbered(0, 12); /* 11 is missing */
	numbered(0, 15); /* 13 and 14 */
	assert_true(upstream_deadline(bench->u) == 7 + 5 * BENCH_MS);
	assert_true(pipeline_due(&bench->u->list) == 7 + 5 * BENCH_MS);
	bench_after(bench, 5 * BENCH_MS - 1);
	expect_gaps(0, 0, 0);
	bench_after(bench, 1);
	assert_int_equal(bench->came[PLAIN], 2);
	expect_gaps(1, 1, 0);
	/* the second gap is the first now: its time begins */
	assert_true(upstream_deadline(bench->u) == 7 + 10 * BENCH_MS);
	bench_after(bench, 5 * BENCH_MS);
	bench_complete(bench, PLAIN);
	expect_gaps(2, 3, 0);
	for (unsigned p = 0; p < HOLD_POOLS; p++)
		assert_int_equal(bench->u->holds.buffers[p], 0);
	bench->serial[PLAIN]++; /* this one does not come */
	numbered(0, 14);
	bench_expect(bench, DROP_PSP_LATE, 1);
	numbered(0, 15);
	bench_expect(bench, DROP_PSP_DUPLICATE, 1);
}

/* No time to wait: what is ahead goes on in the next round. */
static void no_time(void) {
	bench->sg.upstream.reorder_timeout_ns = 0;
}

CASE(no_time_at_all, .prepare = no_time) {
	numbered(0, 10);
	numbered(0, 12);
	numbered(0, 14);
	bench_complete(bench, PLAIN);
	expect_gaps(2, 2, 0);
}

/* The open burst ends, and how much is missing is not known. */
CASE(device_begins_anew, .lossy = true) {
	struct bench_psp p;

	numbered(0, 40000);
	bench_open_burst(&p, BENCH_SC_QAM, bench_streams[PLAIN].sid);
	p.numbered = true;
	p.sequence = 40001;
	psp_send(bench, &p);
	for (uint16_t i = 0; i < 64; i++)
		numbered(0, 10000 + i);
	bench_expect(bench, DROP_PSP_LATE, 64);
	assert_int_equal(upstream_held(bench->u, UNIT_BURST), 1);
	numbered(0, 10064);
	bench_dropped(DROP_BURST_GAP, 1);
	assert_int_equal(upstream_held(bench->u, UNIT_BURST), 0);
	expect_gaps(0, 0, 0);
}

/* After a second in which nothing came, the first that is late is the first of a new count. */
CASE(silence, .lossy = true) {
	numbered(0, 40000);
	bench_after(bench, 1000 * BENCH_MS - 1);
	numbered(0, 30000);
	bench_expect(bench, DROP_PSP_LATE, 1);
	assert_int_equal(bench_count(bench, COUNTER_PSP_RESYNCS), 0);
	bench_after(bench, 1000 * BENCH_MS);
	numbered(0, 30001);
	assert_int_equal(bench_count(bench, COUNTER_PSP_RESYNCS), 1);
	numbered(0, 30002);
	bench_after(bench, 600 * BENCH_MS); /* what came in between ends the silence */
	numbered(0, 30003);
	bench_after(bench, 600 * BENCH_MS);
	numbered(0, 29000);
	bench_expect(bench, DROP_PSP_LATE, 1);
	assert_int_equal(bench_count(bench, COUNTER_PSP_RESYNCS), 1);
	assert_int_equal(bench->came[PLAIN], 4);
}

/* What follows a gap whose time is over stands in the queue of bursts after the round that finds that. */
CASE(expires_within_two_rounds) {
	numbered(0, 10);
	numbered(0, 12);
	bench->clock.now += 5 * BENCH_MS;
	bench_round(bench);
	assert_int_equal(bench_count(bench, COUNTER_PSP_GAPS), 1);
	assert_int_equal(us_queue(bench->u, US_BURSTS)->count, 1);
	bench_round(bench);
	bench_take(bench, 1);
	assert_int_equal(bench->came[PLAIN], 2);
}

/* S = 0: as they come, and the count does not notice. */
CASE(without_numbers) {
	uint16_t next = 0;
	struct bench_psp p;

	for (uint16_t i = 0; i < 100; i++) {
		bench_packet(&p, PLAIN, PACKET);
		p.numbered = true;
		p.unnumbered = i % 3 == 0;
		p.sequence = p.unnumbered ? (uint16_t)random_next(&bench->random) : next++;
		bench_handle_packet(&p);
	}
	bench_complete(bench, PLAIN);
	expect_gaps(0, 0, 0);
}
