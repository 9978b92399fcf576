/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of an upstream frame begins with the packet that had the trailer of its last burst, and ends
 * when the network port took it; in a simulated clock each case has a known one.
 */
#include "upstream_cases.h"

#define AES 2 /* of modem 0 */
#define DEPTH 64 /* of the network port: one less fits */
#define SIZE 200
#define MS BENCH_MS

static void measure(void) {
	bench->clock.now = 5 * MS;
	latency_simulate(&bench->u->latency, &bench->clock.now);
	assert_int_equal(upstream_latency(bench->u, true), 0);
}

/* Since the last call, `packets` came out, which took from `least` to `most` ns, to three digits. */
static void check_took(uint64_t packets, uint64_t least, uint64_t most) {
	struct latency *l = &bench->u->latency;

	latency_collect(l);
	assert_int_equal(l->recent->total_count, packets);
	assert_in_range(hdr_max(l->recent), most, most + most / 900);
	assert_in_range(hdr_min(l->recent), least - least / 900, least);
	latency_reset(l);
}

EACH_CASE(measure)

CASE(whole_frames_take_a_round) {
	static const unsigned streams[] = {FRAMED, PLAIN, AES};

	for (size_t i = 0; i < ARRAY_COUNT(streams); i++) {
		bench_whole(streams[i], SIZE);
		check_took(1, 0, 0);
	}
}

/* A modem has the rest of its packet granted later: that is none of our time. */
CASE(the_last_byte_begins_it) {
	uint8_t frame[BENCH_FRAME_MAX];
	size_t size = bench_mac(FRAMED, SIZE, frame);

	bench_handle(FRAMED, frame, 90);
	bench_after(4 * MS);
	bench_handle_rest(FRAMED, frame + 90, size - 90);
	check_took(1, 0, 0);
}

/* What came waits for a packet before it that comes later: that is. */
CASE(waiting_for_an_earlier_packet_counts) {
	struct bench_psp packets[2];

	bench_whole(PLAIN, SIZE); /* the order begins */
	check_took(1, 0, 0);
	for (unsigned i = 0; i < 2; i++)
		bench_packet_as(&packets[i], PLAIN, SIZE, (uint16_t)(1 + i));
	bench_handle_packet(&packets[1]);
	bench_after(2 * MS);
	latency_collect(&bench->u->latency);
	assert_int_equal(bench->u->latency.recent->total_count, 0);
	bench_handle_packet(&packets[0]);
	check_took(2, 0, 2 * MS);
}

/* A burst goes on when its trailer has come: before, no time of ours passes, whatever came when. */
CASE(the_trailer_begins_it) {
	uint8_t room[2 * BENCH_FRAME_MAX];
	struct bench_psp p;
	size_t first = bench_mac(PLAIN, SIZE, room);
	size_t size = first + bench_mac(PLAIN, SIZE, room + first);

	bench_open_stream(&p, PLAIN);
	psp_add(&p, false, false, room, 50);
	psp_add(&p, false, false, room + 50, first - 50);
	bench_handle_packet(&p);
	bench_after(1 * MS);
	psp_open(&p, BENCH_SC_QAM);
	psp_add(&p, false, false, room + first, size - first);
	bench_handle_packet(&p);
	bench_after(2 * MS);
	psp_open(&p, BENCH_SC_QAM);
	psp_add_trailer(&p);
	bench_handle_packet(&p);
	check_took(2, 0, 0);
}

/* Of the frames in a unit of fragments, the first ends in the first of them. */
CASE(fragments_have_the_time_of_the_last_byte) {
	uint8_t unit[2 * BENCH_FRAME_MAX];
	size_t first = bench_mac(PLAIN, SIZE, unit);
	size_t size = first + bench_mac(PLAIN, SIZE, unit + first), cut = first + 20;

	bench_put_fragment(PLAIN, 0, FRAGMENT_FIRST, unit, cut);
	bench_settle();
	bench_after(6 * MS);
	bench_put_fragment(PLAIN, 1, FRAGMENT_LAST, unit + cut, size - cut);
	bench_settle();
	check_took(2, 0, 6 * MS);
}

/* The port has room for 63 frames; the others wait until somebody takes them. */
CASE(a_port_that_is_full_shows, .network_depth = 64) {
	for (int i = 0; i < 80; i++) {
		bench_put(PLAIN, SIZE);
		bench_round();
	}
	bench_rounds(4);
	check_took(DEPTH - 1, 0, 0);
	bench->clock.now += 7 * MS;
	bench_round();
	bench_settle();
	check_took(80 - (DEPTH - 1), 7 * MS, 7 * MS);
}

CASE(switched_on_and_off) {
	assert_int_equal(upstream_latency(bench->u, false), 0);
	bench->clock.now += 1;
	bench_whole(FRAMED, SIZE);
	assert_int_equal(upstream_latency(bench->u, true), 0);
	bench_whole(FRAMED, SIZE);
	check_took(1, 0, 0);
}
