/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows for order run out: the longest wait ends, that of packets or that of segments, and nothing
 * else does. A window comes back in whatever way its wait ends.
 */
#include "test.h"

#include "fixture.h"
#include "upstream_bench.h"

#define FEW 2

static struct upstream_bench storage, *const bench = &storage;

static unsigned windows_free(void) {
	unsigned n = 0;

	for (const struct order_slots *s = bench->u->slots.free; s != NULL; s = s->next_free)
		n++;
	return n;
}

/* Leaves FEW windows. */
static void setup(void) {
	struct order_slots *last;

	bench_open(bench);
	last = bench->u->slots.free;
	for (int i = 1; i < FEW; i++)
		last = last->next_free;
	last->next_free = NULL;
	assert_int_equal(windows_free(), FEW);
}

static void after_a_millisecond(void) {
	bench_after(bench, BENCH_MS);
}

/* Sends the segment with a frame of its own, `ahead` of the next number. */
static void segment(unsigned stream, unsigned ahead) {
	uint8_t bytes[BENCH_FRAME_MAX];
	size_t size = bench_mac(bench, stream, 100, bytes);

	bench->segment[stream] += (uint16_t)ahead;
	bench_segment(bench, stream, 0, bytes, size);
	bench_settle(bench);
}

/* What was missing: padding. */
static void fill(unsigned stream, uint16_t number) {
	uint16_t next = bench->segment[stream];

	bench->segment[stream] = number;
	bench_segment(bench, stream, BENCH_NO_POINTER, "\xff", 1);
	bench_settle(bench);
	bench->segment[stream] = next;
}

/* An empty packet of a PSP flow. */
static void packet(uint8_t flow, uint16_t number) {
	struct bench_psp p;

	psp_open(&p, BENCH_OFDMA_ALONE);
	p.flow = flow;
	p.numbered = true;
	p.sequence = number;
	psp_send(bench, &p);
	bench_settle(bench);
}

static void check_gaps(uint64_t of_packets, uint64_t of_segments, uint64_t windows_full) {
	assert_int_equal(bench_count(bench, COUNTER_PSP_GAPS), of_packets);
	assert_int_equal(bench_count(bench, COUNTER_SEGMENT_GAPS), of_segments);
	assert_int_equal(bench_count(bench, COUNTER_WINDOWS_FULL), windows_full);
}

/* The numbers of all begin with 0. */
static void begin(void) {
	setup();
	segment(4, 0);
	segment(7, 0);
	segment(8, 0);
	for (uint8_t flow = 0; flow < 3; flow++)
		packet(flow, 0);
}

static void finish(void) {
	for (int i = 0; i < 20; i++)
		bench_after(bench, 10 * BENCH_MS);
	assert_int_equal(windows_free(), FEW);
	for (unsigned stream = 0; stream < BENCH_STREAMS; stream++)
		bench_complete(bench, stream);
	bench_close(bench);
}

static void packets_wait_longer(void **state) {
	(void)state;
	begin();
	packet(0, 2);
	after_a_millisecond();
	segment(7, 1);
	after_a_millisecond();
	check_gaps(0, 0, 0);
	segment(8, 1);
	check_gaps(1, 0, 1);
	segment(4, 1);
	check_gaps(1, 1, 2); /* that of stream 7 */
	assert_int_equal(bench->u->tables.streams[7].order.waiting, 0);
	assert_int_equal(bench->u->reassemble.waiting_segments, 2);
	finish();
}

static void segments_wait_longer(void **state) {
	(void)state;
	begin();
	segment(7, 1);
	after_a_millisecond();
	packet(0, 2);
	after_a_millisecond();
	check_gaps(0, 0, 0);
	packet(1, 2);
	check_gaps(0, 1, 1);
	packet(2, 2);
	check_gaps(1, 1, 2); /* that of flow 0 */
	assert_int_equal(bench->u->uepi.waiting_packets, 2);
	finish();
}

/* A wait that began anew, as its first gap ended, is younger than the others. */
static void renewed(void **state) {
	(void)state;
	begin();
	segment(7, 1); /* 1 is missing, 2 waits */
	segment(7, 1); /* and 4 */
	after_a_millisecond();
	segment(8, 1);
	after_a_millisecond();
	fill(7, 1);
	assert_int_equal(bench->u->tables.streams[7].order.waiting, 1);
	segment(4, 1);
	check_gaps(0, 1, 1);
	assert_int_equal(bench->u->tables.streams[8].order.waiting, 0);
	assert_int_equal(bench->u->tables.streams[7].order.waiting, 1);
	finish();
}

/* The gap is filled, its time is over, or a segment is too far ahead of it. */
static void windows_come_back(void **state) {
	static const unsigned streams[] = {4, 7, 8};

	(void)state;
	begin();
	for (int turn = 0; turn < 10; turn++) {
		for (unsigned i = 0; i < ARRAY_COUNT(streams); i++) {
			unsigned s = streams[i];

			segment(s, 1);
			assert_int_equal(windows_free(), FEW - 1);
			fill(s, (uint16_t)(bench->segment[s] - 2));
			assert_int_equal(windows_free(), FEW);
			segment(s, 1);
			bench_after(bench, 10 * BENCH_MS);
			assert_int_equal(windows_free(), FEW);
			segment(s, 1);
			segment(s, US_SEGMENT_WINDOW + 1);
			assert_int_equal(windows_free(), FEW);
		}
		packet((uint8_t)(turn % 3), (uint16_t)(2 * (turn / 3) + 2));
		assert_int_equal(windows_free(), FEW - 1);
		bench_after(bench, 5 * BENCH_MS);
		assert_int_equal(windows_free(), FEW);
	}
	assert_int_equal(bench_count(bench, COUNTER_WINDOWS_FULL), 0);
	finish();
}

static void random_segment(struct random *r) {
	unsigned stream = random_below(r, BENCH_STREAMS);
	struct segment_header h = {
		.pointer_valid = random_below(r, 2),
		.pointer = (uint16_t)random_below(r, 40),
		.sequence = (uint16_t)random_below(r, 200),
		.sid_cluster = bench_streams[stream].cluster,
	};
	uint8_t bytes[40];

	random_fill(r, bytes, sizeof(bytes));
	bench_segment_as(bench, stream, &h, bytes, random_below(r, sizeof(bytes)));
}

static void random_packet(struct random *r) {
	struct bench_psp p;

	psp_open(&p, BENCH_OFDMA_ALONE);
	p.flow = (uint8_t)random_between(r, 1, 7);
	p.numbered = true;
	p.sequence = (uint16_t)random_below(r, 100);
	psp_send(bench, &p);
}

/* Every stream and flow wants a window all the time. */
static void random_numbers(void **state) {
	struct random r = {.state = 7};

	(void)state;
	setup();
	for (int i = 0; i < 20000; i++) {
		if (random_below(&r, 3) == 0)
			random_packet(&r);
		else
			random_segment(&r);
		if (i % 16 == 0) {
			bench_round(bench);
			bench->clock.now += 1000;
			bench_take(bench, UINT32_MAX);
			assert_in_range(windows_free(), 0, FEW);
		}
	}
	bench_settle(bench);
	assert_true(bench_count(bench, COUNTER_WINDOWS_FULL) > 300);
	assert_true(bench_count(bench, COUNTER_PSP_GAPS) > 100);
	assert_true(bench_count(bench, COUNTER_SEGMENT_GAPS) > 100);
	for (int i = 0; i < 200; i++)
		bench_after(bench, 10 * BENCH_MS);
	assert_int_equal(windows_free(), FEW);
	assert_int_equal(bench->u->uepi.waiting_packets + bench->u->reassemble.waiting_segments, 0);
	bench->any_drops = true;
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(packets_wait_longer),
		cmocka_unit_test(segments_wait_longer),
		cmocka_unit_test(renewed),
		cmocka_unit_test(windows_come_back),
		cmocka_unit_test(random_numbers),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
