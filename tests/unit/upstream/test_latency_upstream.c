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

/* Since the last call, `packets` came out, and each took `ns`, to three digits. */
static void check_took(uint64_t packets, uint64_t ns) {
	struct latency *l = &bench->u->latency;

	latency_collect(l);
	assert_int_equal(l->recent->total_count, packets);
	assert_in_range(hdr_max(l->recent), ns, ns + ns / 1000);
	assert_in_range(hdr_min(l->recent), ns - ns / 1000, ns);
	latency_reset(l);
}

/* Two came, of which the other took `ns`. */
static void check_two(unsigned stream, uint64_t ns) {
	latency_collect(&bench->u->latency);
	assert_int_equal(bench->u->latency.recent->total_count, 2);
	assert_int_equal(hdr_min(bench->u->latency.recent), 0);
	assert_in_range(hdr_max(bench->u->latency.recent), ns, ns + ns / 900);
	bench_complete(bench, stream);
}

EACH_CASE(measure)

CASE(whole_frames_take_a_round) {
	static const unsigned streams[] = {FRAMED, PLAIN, AES};

	for (size_t i = 0; i < ARRAY_COUNT(streams); i++) {
		bench_whole(streams[i], SIZE);
		check_took(1, 0);
	}
}

/* A modem has the rest of its packet granted later: that is none of our time. */
CASE(the_last_byte_begins_it) {
	uint8_t frame[BENCH_FRAME_MAX];
	size_t size = bench_mac(bench, FRAMED, SIZE, frame);

	bench_handle(FRAMED, frame, 90);
	bench_after(bench, 4 * MS);
	bench_handle_rest(FRAMED, frame + 90, size - 90);
	check_took(1, 0);
}

/* What came waits for a packet before it that comes later: that is. */
CASE(waiting_for_an_earlier_packet_counts) {
	struct bench_psp packets[2];

	bench_whole(PLAIN, SIZE); /* the order begins */
	check_took(1, 0);
	for (unsigned i = 0; i < 2; i++) {
		bench_packet(&packets[i], PLAIN, SIZE);
		packets[i].numbered = true;
		packets[i].sequence = (uint16_t)(1 + i);
	}
	bench_handle_packet(&packets[1]);
	bench_after(bench, 2 * MS);
	latency_collect(&bench->u->latency);
	assert_int_equal(bench->u->latency.recent->total_count, 0);
	bench_handle_packet(&packets[0]);
	check_two(PLAIN, 2 * MS);
}

/* A burst goes on when its trailer has come: before, no time of ours passes, whatever came when. */
CASE(the_trailer_begins_it) {
	uint8_t room[2 * BENCH_FRAME_MAX];
	struct bench_psp p;
	size_t first = bench_mac(bench, PLAIN, SIZE, room);
	size_t size = first + bench_mac(bench, PLAIN, SIZE, room + first);

	bench_open_burst(&p, BENCH_SC_QAM, bench_streams[PLAIN].sid);
	psp_add(&p, false, false, room, 50);
	psp_add(&p, false, false, room + 50, first - 50);
	bench_handle_packet(&p);
	bench_after(bench, 1 * MS);
	psp_open(&p, BENCH_SC_QAM);
	psp_add(&p, false, false, room + first, size - first);
	bench_handle_packet(&p);
	bench_after(bench, 2 * MS);
	psp_open(&p, BENCH_SC_QAM);
	psp_add_trailer(bench, &p);
	bench_handle_packet(&p);
	check_two(PLAIN, 0);
}

/* Of the frames in a unit of fragments, the first ends in the first of them. */
CASE(fragments_have_the_time_of_the_last_byte) {
	uint8_t unit[2 * BENCH_FRAME_MAX], out[BENCH_FRAME_MAX];
	size_t first = bench_mac(bench, PLAIN, SIZE, unit);
	size_t size = first + bench_mac(bench, PLAIN, SIZE, unit + first), cut = first + 20;

	bench_handle(PLAIN, out, bench_fragment(PLAIN, 0, FRAGMENT_FIRST, unit, cut, out));
	bench_after(bench, 6 * MS);
	bench_handle(PLAIN, out,
		     bench_fragment(PLAIN, 1, FRAGMENT_LAST, unit + cut, size - cut, out));
	check_two(PLAIN, 6 * MS);
}

/* The port has room for 63 frames; the others wait until somebody takes them. */
CASE(a_port_that_is_full_shows, .network_depth = 64) {
	for (int i = 0; i < 80; i++) {
		bench_put(PLAIN, SIZE);
		bench_round(bench);
	}
	bench_rounds(bench, 4);
	check_took(DEPTH - 1, 0);
	bench->clock.now += 7 * MS;
	bench_round(bench);
	bench_settle(bench);
	check_took(80 - (DEPTH - 1), 7 * MS);
}

CASE(switched_on_and_off) {
	assert_int_equal(upstream_latency(bench->u, false), 0);
	bench->clock.now += 1;
	bench_whole(FRAMED, SIZE);
	latency_collect(&bench->u->latency);
	assert_int_equal(bench->u->latency.whole->total_count, 0);
	bench->clock.now += 1;
	assert_int_equal(upstream_latency(bench->u, true), 0);
	bench_whole(FRAMED, SIZE);
	check_took(1, 0);
}
