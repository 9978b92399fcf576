/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of PSP: packets that come early, late, twice or never, by flow and by session. */
#include "test.h"

#include "fixture.h"
#include "upstream_bench.h"

#define PACKET 64 /* bytes of the packet in each burst */
#define STREAM 6 /* in the clear, without segment headers, SC-QAM */

static struct upstream_bench storage, *const bench = &storage;

/* A whole burst with the next packet in it. */
static void packet_make(struct bench_psp *p) {
	uint8_t frame[BENCH_FRAME_MAX];
	size_t size = bench_mac(bench, STREAM, PACKET, frame);

	psp_open(p, BENCH_SC_QAM);
	psp_add_header(bench, p, bench_streams[STREAM].sid);
	psp_add(p, false, false, frame, size);
	psp_add_trailer(bench, p);
}

/* A packet of one of our numbers. */
static void numbered(uint8_t flow, uint16_t number) {
	struct bench_psp p;

	packet_make(&p);
	p.numbered = true;
	p.flow = flow;
	p.sequence = number;
	psp_send(bench, &p);
	bench_settle(bench);
}

static void expect_gaps(uint64_t gaps, uint64_t missing, uint64_t reordered) {
	assert_int_equal(bench_count(bench, COUNTER_PSP_GAPS), gaps);
	assert_int_equal(bench_count(bench, COUNTER_PSP_MISSING), missing);
	assert_int_equal(bench_count(bench, COUNTER_PSP_REORDERED), reordered);
}

/* What is ahead waits, in whatever order it comes; the serials follow the numbers. */
static void put_into_order(void **state) {
	(void)state;
	bench_open(bench);
	numbered(0, 65534);
	bench->serial[STREAM] = 4;
	numbered(0, 2);
	bench->serial[STREAM] = 2;
	numbered(0, 0);
	assert_int_equal(upstream_held(bench->u, UNIT_PACKET), 2);
	assert_int_equal(bench->came[STREAM], 1);
	bench->serial[STREAM] = 1;
	numbered(0, 65535);
	bench->serial[STREAM] = 3;
	numbered(0, 1);
	bench->serial[STREAM] = 5;
	bench_complete(bench, STREAM);
	expect_gaps(0, 0, 3);
	bench_close(bench);
}

static void given_up_after_their_time(void **state) {
	(void)state;
	bench_open(bench);
	numbered(0, 10);
	bench->clock.now += 7;
	numbered(0, 12); /* 11 is missing */
	numbered(0, 15); /* 13 and 14 */
	assert_true(upstream_deadline(bench->u) == 7 + 5 * BENCH_MS);
	assert_true(pipeline_due(&bench->u->list) == 7 + 5 * BENCH_MS);
	bench_after(bench, 5 * BENCH_MS - 1);
	expect_gaps(0, 0, 0);
	bench_after(bench, 1);
	assert_int_equal(bench->came[STREAM], 2);
	expect_gaps(1, 1, 0);
	/* the second gap is the first now: its time begins */
	assert_true(upstream_deadline(bench->u) == 7 + 10 * BENCH_MS);
	bench_after(bench, 5 * BENCH_MS);
	bench_complete(bench, STREAM);
	expect_gaps(2, 3, 0);
	for (unsigned p = 0; p < HOLD_POOLS; p++)
		assert_int_equal(bench->u->holds.buffers[p], 0);
	bench->serial[STREAM]++; /* this one does not come */
	numbered(0, 14);
	bench_expect(bench, DROP_PSP_LATE, 1);
	numbered(0, 15);
	bench_expect(bench, DROP_PSP_DUPLICATE, 1);
	bench_close(bench);
}

/* No time to wait: what is ahead goes on in the same round. */
static void no_time_at_all(void **state) {
	(void)state;
	bench_prepare(bench);
	bench->sg.upstream.reorder_timeout_ns = 0;
	bench_start(bench);
	numbered(0, 10);
	numbered(0, 12);
	numbered(0, 14);
	bench_complete(bench, STREAM);
	expect_gaps(2, 2, 0);
	bench_close(bench);
}

/* 32 ahead of the first missing one waits, 33 ahead does not. */
static void too_far_ahead(void **state) {
	(void)state;
	bench_open(bench);
	numbered(0, 100);
	numbered(0, 101 + 32);
	expect_gaps(0, 0, 0);
	numbered(0, 101 + 33);
	expect_gaps(1, 32, 0);
	bench_complete(bench, STREAM);
	numbered(0, 135 + 33); /* nothing waits: up to what has just come */
	expect_gaps(2, 65, 0);
	bench_complete(bench, STREAM);
	bench_close(bench);
}

static void device_begins_anew(void **state) {
	(void)state;
	bench_open(bench);
	numbered(0, 40000);
	numbered(0, 40002);
	for (uint16_t i = 0; i < 64; i++)
		numbered(0, 20000 + i);
	bench_expect(bench, DROP_PSP_LATE, 64);
	assert_int_equal(bench_count(bench, COUNTER_PSP_RESYNCS), 0);
	numbered(0, 20064);
	assert_int_equal(bench_count(bench, COUNTER_PSP_RESYNCS), 1);
	assert_int_equal(bench->came[STREAM], 3);
	expect_gaps(1, 1, 0);
	numbered(0, 20065);
	assert_int_equal(bench->came[STREAM], 4);
	bench_close(bench);
}

/* Then nothing that waits stays, behind however many gaps, and the open burst has ended. */
static void what_waits_when_a_device_begins_anew(void **state) {
	struct bench_psp p;

	(void)state;
	bench_open(bench);
	numbered(0, 40000);
	for (uint16_t i = 1; i <= 3; i++)
		numbered(0, 40000 + 2 * i);
	for (uint16_t i = 0; i < 64; i++)
		numbered(0, 20000 + i);
	bench_expect(bench, DROP_PSP_LATE, 64);
	numbered(0, 20064);
	expect_gaps(3, 3, 0);
	assert_int_equal(bench->came[STREAM], 5);
	assert_int_equal(upstream_held(bench->u, UNIT_PACKET), 0);
	psp_open(&p, BENCH_SC_QAM);
	psp_add_header(bench, &p, bench_streams[STREAM].sid);
	p.numbered = true;
	p.sequence = 20065;
	psp_send(bench, &p);
	bench_settle(bench);
	assert_int_equal(upstream_held(bench->u, UNIT_BURST), 1);
	for (uint16_t i = 0; i < 64; i++)
		numbered(0, 10000 + i);
	bench_expect(bench, DROP_PSP_LATE, 64);
	assert_int_equal(upstream_held(bench->u, UNIT_BURST), 1);
	numbered(0, 10064);
	bench_expect(bench, DROP_BURST_GAP, 1);
	assert_int_equal(upstream_held(bench->u, UNIT_BURST), 0);
	assert_int_equal(bench_count(bench, COUNTER_PSP_RESYNCS), 2);
	expect_gaps(3, 3, 0); /* how much is missing is not known */
	bench_close(bench);
}

/* After a second in which nothing came, the first that is late is the first of a new count. */
static void silence(void **state) {
	(void)state;
	bench_open(bench);
	numbered(0, 40000);
	bench_after(bench, 1000 * BENCH_MS - 1);
	numbered(0, 30000);
	bench_expect(bench, DROP_PSP_LATE, 1);
	assert_int_equal(bench_count(bench, COUNTER_PSP_RESYNCS), 0);
	bench_after(bench, 1000 * BENCH_MS);
	numbered(0, 30001);
	assert_int_equal(bench_count(bench, COUNTER_PSP_RESYNCS), 1);
	numbered(0, 30002);
	assert_int_equal(bench->came[STREAM], 3);
	bench_close(bench);
}

/* Each flow of a session counts for itself, and so does each session. */
static void numbers_of_flows(void **state) {
	(void)state;
	bench_open(bench);
	for (uint8_t flow = 0; flow <= PSP_FLOW_MAX; flow++) {
		numbered(flow, flow * 1000);
		numbered(flow, flow * 1000 + 1);
	}
	bench_complete(bench, STREAM);
	numbered(3, 3003);
	numbered(4, 4002);
	assert_int_equal(upstream_held(bench->u, UNIT_PACKET), 1);
	expect_gaps(0, 0, 0);
	bench->any_drops = true; /* the one that is held */
	bench_close(bench);
}

/* What follows a gap whose time is over comes out of the list in the round that finds that. */
static void given_up_in_one_round(void **state) {
	(void)state;
	bench_open(bench);
	numbered(0, 10);
	numbered(0, 12);
	bench->clock.now += 5 * BENCH_MS;
	bench_round(bench);
	bench_take(bench, 1);
	assert_int_equal(bench->came[STREAM], 2);
	bench_close(bench);
}

static void numbers_of_sessions(void **state) {
	(void)state;
	bench_prepare(bench);
	bench->sg.upstream.psp_numbering = PSP_NUMBERING_SESSION;
	bench_start(bench);
	for (uint16_t i = 0; i < 20; i++)
		numbered(i % 8, i);
	bench_complete(bench, STREAM);
	numbered(3, 21);
	numbered(4, 22);
	assert_int_equal(upstream_held(bench->u, UNIT_PACKET), 2);
	bench_after(bench, 5 * BENCH_MS);
	bench_complete(bench, STREAM);
	expect_gaps(1, 1, 0);
	bench_close(bench);
}

/* S = 0: as they come, and the count does not notice. */
static void without_numbers(void **state) {
	uint16_t next = 0;
	struct bench_psp p;

	(void)state;
	bench_open(bench);
	for (uint16_t i = 0; i < 100; i++) {
		packet_make(&p);
		p.numbered = true;
		p.unnumbered = i % 3 == 0;
		p.sequence = p.unnumbered ? (uint16_t)random_next(&bench->random) : next++;
		psp_send(bench, &p);
		bench_settle(bench);
	}
	bench_complete(bench, STREAM);
	expect_gaps(0, 0, 0);
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(put_into_order),
		cmocka_unit_test(given_up_after_their_time),
		cmocka_unit_test(no_time_at_all),
		cmocka_unit_test(too_far_ahead),
		cmocka_unit_test(device_begins_anew),
		cmocka_unit_test(what_waits_when_a_device_begins_anew),
		cmocka_unit_test(silence),
		cmocka_unit_test(given_up_in_one_round),
		cmocka_unit_test(numbers_of_flows),
		cmocka_unit_test(numbers_of_sessions),
		cmocka_unit_test(without_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
