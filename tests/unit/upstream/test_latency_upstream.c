/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the latency of upstream frames under a simulated clock: from receiving the packet with the
 * last byte or trailer until the network port accepts the frame. */
#include "upstream_cases.h"

#define AES 2 /* stream of modem 0, encrypted */
#define DEPTH 64 /* packets of the network port's queue; it can have one less */
#define SIZE 200
#define MS KIT_MS

static void start_measuring(void) {
	kit->clock.now = 5 * MS;
	latency_simulate(&kit->u->latency, &kit->clock.now);
	assert_int_equal(upstream_latency(kit->u, true), 0);
}

/* Since the last call, `packets` were measured, with `least` to `most` ns. */
static void check_latency(uint64_t packets, uint64_t least, uint64_t most) {
	struct latency *l = &kit->u->latency;

	latency_collect(l);
	assert_int_equal(l->recent->total_count, packets);
	assert_in_range(hdr_max(l->recent), most, most + most / 900);
	assert_in_range(hdr_min(l->recent), least - least / 900, least);
	latency_reset(l);
}

BEFORE_EACH_CASE(start_measuring)

CASE(whole_frame_has_no_latency) {
	static const unsigned streams[] = {SEGMENTED, PLAIN, AES};

	for (size_t i = 0; i < ARRAY_COUNT(streams); i++) {
		kit_process_frame(streams[i], SIZE);
		check_latency(1, 0, 0);
	}
}

/* The modem sends the rest of its frame in a later grant. That time does not count. */
CASE(latency_starts_at_last_byte) {
	uint8_t frame[KIT_FRAME_MAX];
	size_t size = kit_next_frame(SEGMENTED, SIZE, frame);

	kit_process(SEGMENTED, frame, 90);
	kit_advance(4 * MS);
	kit_process_tail(SEGMENTED, frame + 90, size - 90);
	check_latency(1, 0, 0);
}

/* The time in the reorder queue counts. */
CASE(time_in_reorder_queue_counts) {
	struct psp_packet packets[2];

	kit_process_frame(PLAIN, SIZE); /* starts the numbering */
	check_latency(1, 0, 0);
	for (unsigned i = 0; i < 2; i++)
		kit_write_numbered_packet(&packets[i], PLAIN, SIZE, (uint16_t)(1 + i));
	kit_process_packet(&packets[1]);
	kit_advance(2 * MS);
	latency_collect(&kit->u->latency);
	assert_int_equal(kit->u->latency.recent->total_count, 0);
	kit_process_packet(&packets[0]);
	check_latency(2, 0, 2 * MS);
}

/* A burst is complete when its trailer is received. The time before that does not count. */
CASE(latency_starts_at_burst_trailer) {
	uint8_t bytes[2 * KIT_FRAME_MAX];
	struct psp_packet p;
	size_t first = kit_next_frame(PLAIN, SIZE, bytes);
	size_t size = first + kit_next_frame(PLAIN, SIZE, bytes + first);

	kit_begin_stream_burst(&p, PLAIN);
	psp_add_segment(&p, false, false, bytes, 50);
	psp_add_segment(&p, false, false, bytes + 50, first - 50);
	kit_process_packet(&p);
	kit_advance(1 * MS);
	psp_begin(&p, KIT_SC_QAM);
	psp_add_segment(&p, false, false, bytes + first, size - first);
	kit_process_packet(&p);
	kit_advance(2 * MS);
	psp_begin(&p, KIT_SC_QAM);
	psp_add_trailer(&p);
	kit_process_packet(&p);
	check_latency(2, 0, 0);
}

/* The first frame of the unit ends in the first fragment, and waits for the second. */
CASE(fragmented_frame_counts_from_its_last_byte) {
	uint8_t unit[2 * KIT_FRAME_MAX];
	size_t first = kit_next_frame(PLAIN, SIZE, unit);
	size_t size = first + kit_next_frame(PLAIN, SIZE, unit + first), split = first + 20;

	kit_send_fragment(PLAIN, 0, FRAGMENT_FIRST, unit, split);
	kit_settle();
	kit_advance(6 * MS);
	kit_send_fragment(PLAIN, 1, FRAGMENT_LAST, unit + split, size - split);
	kit_settle();
	check_latency(2, 0, 6 * MS);
}

/* The port has capacity for 63 frames. The others are pending until the test receives some. */
CASE(full_port_adds_latency, .network_depth = 64) {
	for (int i = 0; i < 80; i++) {
		kit_send_frame(PLAIN, SIZE);
		kit_run_round();
	}
	kit_run_rounds(4);
	check_latency(DEPTH - 1, 0, 0);
	kit->clock.now += 7 * MS;
	kit_run_round();
	kit_settle();
	check_latency(80 - (DEPTH - 1), 7 * MS, 7 * MS);
}

CASE(latency_is_measured_only_while_on) {
	assert_int_equal(upstream_latency(kit->u, false), 0);
	kit->clock.now += 1;
	kit_process_frame(SEGMENTED, SIZE);
	assert_int_equal(upstream_latency(kit->u, true), 0);
	kit_process_frame(SEGMENTED, SIZE);
	check_latency(1, 0, 0);
}
