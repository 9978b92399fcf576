/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests a shortage of reorder windows, the slots for pending mbufs of a reorder queue (struct order_slots). Only the
 * oldest wait for missing packets or segments expires. Each wait frees its window, however it ends. */
#include "upstream_cases.h"

#define WINDOW_LIMIT 2 /* windows */

static unsigned free_windows; /* at the start of the case */

/* Has the stage `expire` end waits until at most WINDOW_LIMIT windows are in use. */
static void limit_windows(void) {
	kit->u->reorder_set.max = WINDOW_LIMIT;
	free_windows = kit_unused_windows();
}

enum kind {
	NOTHING, /* no further step */
	PACKET, /* without segments, of a PSP flow */
	SEGMENT, /* with a whole frame */
	FILL, /* the missing segment, with padding only */
};

/* What the test sends 1 ms after the step before. The counters are those of the case after this step. */
struct step {
	enum kind kind;
	unsigned index; /* PACKET: PSP flow; else stream */
	uint16_t number; /* PACKET, FILL: sequence number; SEGMENT: how many numbers it skips */
	uint64_t packet_gaps, segment_gaps, windows_full;
};

static const struct {
	struct step steps[5];
	unsigned ended; /* a stream whose wait has expired */
	unsigned pending; /* a stream that still waits; KIT_STREAMS: none */
} cases[] = {
	/* PSP flow 0 waits longest: it expires first, then stream 7 */
	{{{PACKET, 0, 2, 0, 0, 0},
	  {SEGMENT, 7, 1, 0, 0, 0},
	  {SEGMENT, 8, 1, 1, 0, 1},
	  {SEGMENT, 4, 1, 1, 1, 2}},
	 7,
	 8},
	/* streams 7 and 8 wait longer than PSP flow 0 */
	{{{SEGMENT, 7, 1, 0, 0, 0},
	  {SEGMENT, 8, 1, 0, 0, 0},
	  {PACKET, 0, 2, 0, 1, 1},
	  {PACKET, 1, 2, 0, 2, 2},
	  {PACKET, 2, 2, 1, 2, 3}},
	 8,
	 KIT_STREAMS},
	/* the wait of stream 7 restarts when its first gap is filled: that of stream 8 is older */
	{{{SEGMENT, 7, 1, 0, 0, 0},
	  {SEGMENT, 7, 1, 0, 0, 0},
	  {SEGMENT, 8, 1, 0, 0, 0},
	  {FILL, 7, 1, 0, 0, 0},
	  {SEGMENT, 4, 1, 0, 1, 1}},
	 8,
	 7},
};

static void run_step(const struct step *s) {
	uint16_t next = kit->segment[s->index];

	switch (s->kind) {
	case NOTHING: return;
	case PACKET: kit_send_empty_packet(KIT_OFDMA_2, (uint8_t)s->index, s->number); break;
	case SEGMENT:
		kit->segment[s->index] += s->number;
		kit_send_frame(s->index, 100);
		break;
	case FILL:
		kit->segment[s->index] = s->number;
		kit_process_tail(s->index, "\xff", 1);
		kit->segment[s->index] = next;
	}
	kit_advance(KIT_MS);
	assert_int_equal(kit_counter(COUNTER_PSP_GAPS), s->packet_gaps);
	assert_int_equal(kit_counter(COUNTER_SEGMENT_GAPS), s->segment_gaps);
	assert_int_equal(kit_counter(COUNTER_WINDOWS_FULL), s->windows_full);
}

/* Each element of `cases` has an upstream of its own. */
CASE(window_shortage_ends_oldest_wait, .self_started = true) {
	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		kit_open();
		limit_windows();
		for (uint8_t flow = 0; flow < 3; flow++) { /* all queues begin with number 0 */
			kit_send_empty_packet(KIT_OFDMA_2, flow, 0);
			kit_process_frame(flow == 0 ? SEGMENTED : 6 + flow, 100);
		}
		for (size_t k = 0; k < ARRAY_COUNT(cases[i].steps); k++)
			run_step(&cases[i].steps[k]);
		assert_int_equal(kit->u->tables.streams[cases[i].ended].order.queued, 0);
		if (cases[i].pending < KIT_STREAMS)
			assert_true(kit->u->tables.streams[cases[i].pending].order.queued > 0);
		for (int n = 0; n < 20; n++)
			kit_advance(10 * KIT_MS);
		assert_int_equal(kit_unused_windows(), free_windows);
		kit_close();
	}
}

/* Sends a segment of a random stream with random header and bytes. */
static void random_segment(struct random *r) {
	unsigned stream = random_below(r, KIT_STREAMS);
	struct segment_header h = {
		.pointer_valid = random_below(r, 2),
		.pointer = (uint16_t)random_below(r, 40),
		.sequence = (uint16_t)random_below(r, 200),
		.sid_cluster = kit_streams[stream].cluster,
	};
	uint8_t bytes[40];

	random_fill(r, bytes, sizeof(bytes));
	kit_send_segment_as(stream, &h, bytes, random_below(r, sizeof(bytes)));
}

/* By default, there is a window for each stream and for each PSP flow of a session. */
CASE(each_stream_and_flow_has_window) {
	const struct upstream *u = kit->u;
	uint32_t orders = u->tables.stream_count + u->tables.session_count * US_PSP_FLOWS;

	assert_int_equal(kit_unused_windows(), orders);
	assert_int_equal(u->reorder_set.max, orders);
}

/* Random numbers make streams and PSP flows wait all the time. At the end, all waits have expired. */
CASE(random_numbers_with_few_windows) {
	struct random r = {.state = 7};

	limit_windows();
	for (int i = 0; i < 20000; i++) {
		if (random_below(&r, 3) == 0)
			kit_send_empty_packet(KIT_OFDMA_2, (uint8_t)random_between(&r, 1, 7),
					      (uint16_t)random_below(&r, 100));
		else
			random_segment(&r);
		if (i % 16 == 0) {
			kit_run_round();
			kit->clock.now += 1000;
			kit_receive(UINT32_MAX);
			assert_in_range(free_windows - kit_unused_windows(), 0, WINDOW_LIMIT);
		}
	}
	kit_settle();
	assert_true(kit_counter(COUNTER_WINDOWS_FULL) > 300);
	assert_true(kit_counter(COUNTER_PSP_GAPS) > 100);
	assert_true(kit_counter(COUNTER_SEGMENT_GAPS) > 100);
	for (int i = 0; i < 200; i++)
		kit_advance(10 * KIT_MS);
	assert_int_equal(kit_unused_windows(), free_windows);
	assert_int_equal(kit->u->uepi.pending_packets + kit->u->reassemble.pending_segments, 0);
	kit->ignore_drops = true;
}
