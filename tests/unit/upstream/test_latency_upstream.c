/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The time of an upstream frame begins with the packet that had the trailer of its last burst, and ends
 * when the network port took it; in a simulated clock each case has a known one.
 */
#include "test.h"

#include "fixture.h"
#include "upstream_bench.h"

#define FRAMED 4 /* of modem 2, in the clear */
#define PLAIN 6 /* of modem 3, in the clear, without segment headers */
#define AES 2 /* of modem 0 */
#define DEPTH 64 /* of the network port: one less fits */
#define SIZE 200
#define MS BENCH_MS

static struct upstream_bench storage, *const bench = &storage;

static void setup(void) {
	bench_prepare(bench);
	bench->network_depth = DEPTH;
	bench_start(bench);
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

/* A whole frame of the stream in a burst of its own. */
static void put_whole(unsigned stream) {
	uint8_t frame[BENCH_FRAME_MAX];
	size_t size = bench_mac(bench, stream, SIZE, frame);

	if (bench_streams[stream].segment_header)
		bench_segment(bench, stream, 0, frame, size);
	else
		bench_plain(bench, stream, frame, size);
}

static void whole_frames_take_a_round(void **state) {
	static const unsigned streams[] = {FRAMED, PLAIN, AES};

	(void)state;
	setup();
	for (size_t i = 0; i < ARRAY_COUNT(streams); i++) {
		put_whole(streams[i]);
		bench_settle(bench);
		check_took(1, 0);
	}
	bench_close(bench);
}

/* A modem has the rest of its packet granted later: that is none of our time. */
static void the_last_byte_begins_it(void **state) {
	uint8_t frame[BENCH_FRAME_MAX];
	size_t size;

	(void)state;
	setup();
	size = bench_mac(bench, FRAMED, SIZE, frame);
	bench_segment(bench, FRAMED, 0, frame, 90);
	bench_settle(bench);
	bench_after(bench, 4 * MS);
	bench_segment(bench, FRAMED, BENCH_NO_POINTER, frame + 90, size - 90);
	bench_settle(bench);
	check_took(1, 0);
	bench_complete(bench, FRAMED);
	bench_close(bench);
}

/* What came waits for a packet before it that comes later: that is. */
static void waiting_for_an_earlier_packet_counts(void **state) {
	uint8_t frame[BENCH_FRAME_MAX];
	struct bench_psp first, second;

	(void)state;
	setup();
	put_whole(PLAIN); /* the order begins */
	bench_settle(bench);
	check_took(1, 0);
	for (unsigned i = 0; i < 2; i++) {
		struct bench_psp *p = i == 0 ? &first : &second;
		size_t size = bench_mac(bench, PLAIN, SIZE, frame);

		psp_open(p, BENCH_SC_QAM);
		p->numbered = true;
		p->sequence = (uint16_t)(1 + i);
		psp_add_header(bench, p, bench_streams[PLAIN].sid);
		psp_add(p, false, false, frame, size);
		psp_add_trailer(bench, p);
	}
	psp_send(bench, &second);
	bench_settle(bench);
	bench_after(bench, 2 * MS);
	latency_collect(&bench->u->latency);
	assert_int_equal(bench->u->latency.recent->total_count, 0);
	psp_send(bench, &first);
	bench_settle(bench);
	latency_collect(&bench->u->latency);
	assert_int_equal(bench->u->latency.recent->total_count, 2);
	assert_int_equal(hdr_min(bench->u->latency.recent), 0);
	assert_in_range(hdr_max(bench->u->latency.recent), 2 * MS, 2 * MS + MS / 500);
	bench_complete(bench, PLAIN);
	bench_close(bench);
}

/* The same of a segment of the modem's other channel. */
static void waiting_for_an_earlier_segment_counts(void **state) {
	uint8_t frame[BENCH_FRAME_MAX], next[BENCH_FRAME_MAX];
	struct segment_header h = {.pointer_valid = true, .sid_cluster = 5};
	size_t size, next_size;

	(void)state;
	setup();
	put_whole(FRAMED);
	bench_settle(bench);
	check_took(1, 0);
	size = bench_mac(bench, FRAMED, SIZE, frame);
	next_size = bench_mac(bench, FRAMED, SIZE, next);
	h.sequence = 2;
	bench_segment_as(bench, FRAMED, &h, next, next_size);
	bench_settle(bench);
	bench_after(bench, 3 * MS);
	h.sequence = 1;
	bench_segment_as(bench, FRAMED, &h, frame, size);
	bench_settle(bench);
	latency_collect(&bench->u->latency);
	assert_int_equal(bench->u->latency.recent->total_count, 2);
	assert_int_equal(hdr_min(bench->u->latency.recent), 0);
	assert_in_range(hdr_max(bench->u->latency.recent), 3 * MS, 3 * MS + MS / 300);
	bench_complete(bench, FRAMED);
	bench_close(bench);
}

/* A burst goes on when its trailer has come: before, no time of ours passes, whatever came when. */
static void the_trailer_begins_it(void **state) {
	uint8_t room[2 * BENCH_FRAME_MAX];
	struct bench_psp p;
	size_t first, size;

	(void)state;
	setup();
	first = bench_mac(bench, PLAIN, SIZE, room);
	size = first + bench_mac(bench, PLAIN, SIZE, room + first);
	psp_open(&p, BENCH_SC_QAM);
	psp_add_header(bench, &p, bench_streams[PLAIN].sid);
	psp_add(&p, false, false, room, 50);
	psp_add(&p, false, false, room + 50, first - 50);
	psp_send(bench, &p);
	bench_settle(bench);
	bench_after(bench, 1 * MS);
	psp_open(&p, BENCH_SC_QAM);
	psp_add(&p, false, false, room + first, size - first);
	psp_send(bench, &p);
	bench_settle(bench);
	bench_after(bench, 2 * MS);
	psp_open(&p, BENCH_SC_QAM);
	psp_add_trailer(bench, &p);
	psp_send(bench, &p);
	bench_settle(bench);
	latency_collect(&bench->u->latency);
	assert_int_equal(bench->u->latency.recent->total_count, 2);
	assert_int_equal(hdr_max(bench->u->latency.recent), 0);
	bench_complete(bench, PLAIN);
	bench_close(bench);
}

/* A fragment of a modem without segment headers, in a burst of its own. */
static void put_fragment(uint8_t number, bool last, const uint8_t *bytes, size_t size) {
	uint8_t out[BENCH_FRAME_MAX];
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_FRAGMENT,
		.privacy = PRIVACY_BP_UP,
		.sid = bench_streams[PLAIN].sid,
		.fragment_first = number == 0,
		.fragment_last = last,
		.fragment_sequence = number,
	};

	bench_plain(bench, PLAIN, out,
		    bench_frame(bench, bench_streams[PLAIN].modem, &h, bytes, size, out));
	bench_settle(bench);
}

/* Of the frames in a unit of fragments, the first ends in the first of them. */
static void fragments_have_the_time_of_the_last_byte(void **state) {
	uint8_t unit[2 * BENCH_FRAME_MAX];
	size_t first, size;

	(void)state;
	setup();
	first = bench_mac(bench, PLAIN, SIZE, unit);
	size = first + bench_mac(bench, PLAIN, SIZE, unit + first);
	put_fragment(0, false, unit, first + 20);
	bench_after(bench, 6 * MS);
	put_fragment(1, true, unit + first + 20, size - first - 20);
	latency_collect(&bench->u->latency);
	assert_int_equal(bench->u->latency.recent->total_count, 2);
	assert_int_equal(hdr_min(bench->u->latency.recent), 0);
	assert_in_range(hdr_max(bench->u->latency.recent), 6 * MS, 6 * MS + MS / 150);
	bench_complete(bench, PLAIN);
	bench_close(bench);
}

/* The port has room for 63 frames; the others wait until somebody takes them. */
static void a_port_that_is_full_shows(void **state) {
	(void)state;
	setup();
	for (int i = 0; i < 80; i++) {
		put_whole(PLAIN);
		bench_round(bench);
	}
	for (int i = 0; i < 4; i++)
		bench_round(bench);
	check_took(DEPTH - 1, 0);
	bench->clock.now += 7 * MS;
	bench_round(bench);
	bench_settle(bench);
	check_took(80 - (DEPTH - 1), 7 * MS);
	bench_complete(bench, PLAIN);
	bench_close(bench);
}

static void switched_on_and_off(void **state) {
	(void)state;
	setup();
	assert_int_equal(upstream_latency(bench->u, false), 0);
	bench->clock.now += 1;
	put_whole(FRAMED);
	bench_settle(bench);
	latency_collect(&bench->u->latency);
	assert_int_equal(bench->u->latency.whole->total_count, 0);
	bench->clock.now += 1;
	assert_int_equal(upstream_latency(bench->u, true), 0);
	put_whole(FRAMED);
	bench_settle(bench);
	check_took(1, 0);
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_frames_take_a_round),
		cmocka_unit_test(the_last_byte_begins_it),
		cmocka_unit_test(waiting_for_an_earlier_packet_counts),
		cmocka_unit_test(waiting_for_an_earlier_segment_counts),
		cmocka_unit_test(the_trailer_begins_it),
		cmocka_unit_test(fragments_have_the_time_of_the_last_byte),
		cmocka_unit_test(a_port_that_is_full_shows),
		cmocka_unit_test(switched_on_and_off),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
