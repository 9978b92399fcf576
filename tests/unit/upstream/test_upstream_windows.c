/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Windows for order run out: the longest wait ends, that of packets or that of segments, and nothing
 * else does. A window comes back in whatever way its wait ends.
 */
#include "upstream_cases.h"

#define FEW 2

static unsigned all_windows;

/* Of the windows, so many may be in use behind the row `expire`. */
static void few_windows(void) {
	bench->u->reorder_set.most = FEW;
	all_windows = bench_windows_free();
}

enum what {
	NOTHING,
	PACKET, /* empty, of a PSP flow */
	SEGMENT, /* with a frame of its own */
	FILL, /* a segment that was missing: padding */
};

/* What comes a millisecond after the other, and how many gaps have ended and windows were not there then. */
struct step {
	enum what what;
	unsigned whose; /* flow or stream */
	uint16_t number; /* of a segment with a frame: ahead of the next one */
	uint64_t of_packets, of_segments, windows_full;
};

static const struct {
	struct step steps[5];
	unsigned ended, waits; /* streams */
} rows[] = {
	/* packets wait longer, */
	{{{PACKET, 0, 2, 0, 0, 0},
	  {SEGMENT, 7, 1, 0, 0, 0},
	  {SEGMENT, 8, 1, 1, 0, 1},
	  {SEGMENT, 4, 1, 1, 1, 2}},
	 7,
	 8},
	/* or segments do; */
	{{{SEGMENT, 7, 1, 0, 0, 0},
	  {SEGMENT, 8, 1, 0, 0, 0},
	  {PACKET, 0, 2, 0, 1, 1},
	  {PACKET, 1, 2, 0, 2, 2},
	  {PACKET, 2, 2, 1, 2, 3}},
	 8,
	 BENCH_STREAMS},
	/* and a wait that began anew, as its first gap ended, is younger than the others */
	{{{SEGMENT, 7, 1, 0, 0, 0},
	  {SEGMENT, 7, 1, 0, 0, 0},
	  {SEGMENT, 8, 1, 0, 0, 0},
	  {FILL, 7, 1, 0, 0, 0},
	  {SEGMENT, 4, 1, 0, 1, 1}},
	 8,
	 7},
};

static void take(const struct step *s) {
	uint16_t next = bench->segment[s->whose];

	switch (s->what) {
	case NOTHING: return;
	case PACKET: bench_put_number(BENCH_OFDMA_ALONE, (uint8_t)s->whose, s->number); break;
	case SEGMENT:
		bench->segment[s->whose] += s->number;
		bench_put(s->whose, 100);
		break;
	case FILL:
		bench->segment[s->whose] = s->number;
		bench_handle_rest(s->whose, "\xff", 1);
		bench->segment[s->whose] = next;
	}
	bench_after(BENCH_MS);
	assert_int_equal(bench_count(COUNTER_PSP_GAPS), s->of_packets);
	assert_int_equal(bench_count(COUNTER_SEGMENT_GAPS), s->of_segments);
	assert_int_equal(bench_count(COUNTER_WINDOWS_FULL), s->windows_full);
}

CASE(the_longest_wait_ends, .closed = true) {
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		bench_open();
		few_windows();
		for (uint8_t flow = 0; flow < 3; flow++) { /* the numbers of all begin with 0 */
			bench_put_number(BENCH_OFDMA_ALONE, flow, 0);
			bench_whole(flow == 0 ? FRAMED : 6 + flow, 100);
		}
		for (size_t k = 0; k < ARRAY_COUNT(rows[i].steps); k++)
			take(&rows[i].steps[k]);
		assert_int_equal(bench->u->tables.streams[rows[i].ended].order.queued, 0);
		if (rows[i].waits < BENCH_STREAMS)
			assert_true(bench->u->tables.streams[rows[i].waits].order.queued > 0);
		for (int n = 0; n < 20; n++)
			bench_after(10 * BENCH_MS);
		assert_int_equal(bench_windows_free(), all_windows);
		bench_close();
	}
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
	bench_segment_as(stream, &h, bytes, random_below(r, sizeof(bytes)));
}

/* Each order has a window, where buffers for them may wait. */
CASE(windows_for_all) {
	const struct upstream *u = bench->u;
	uint32_t orders = u->tables.stream_count + u->tables.session_count * US_PSP_FLOWS;

	assert_int_equal(bench_windows_free(), orders);
	assert_int_equal(u->reorder_set.most, orders);
}

/* Every stream and flow wants a window all the time. */
CASE(random_numbers) {
	struct random r = {.state = 7};

	few_windows();
	for (int i = 0; i < 20000; i++) {
		if (random_below(&r, 3) == 0)
			bench_put_number(BENCH_OFDMA_ALONE, (uint8_t)random_between(&r, 1, 7),
					 (uint16_t)random_below(&r, 100));
		else
			random_segment(&r);
		if (i % 16 == 0) {
			bench_round();
			bench->clock.now += 1000;
			bench_take(UINT32_MAX);
			assert_in_range(all_windows - bench_windows_free(), 0, FEW);
		}
	}
	bench_settle();
	assert_true(bench_count(COUNTER_WINDOWS_FULL) > 300);
	assert_true(bench_count(COUNTER_PSP_GAPS) > 100);
	assert_true(bench_count(COUNTER_SEGMENT_GAPS) > 100);
	for (int i = 0; i < 200; i++)
		bench_after(10 * BENCH_MS);
	assert_int_equal(bench_windows_free(), all_windows);
	assert_int_equal(bench->u->uepi.pending_packets + bench->u->reassemble.pending_segments, 0);
	bench->any_drops = true;
}
