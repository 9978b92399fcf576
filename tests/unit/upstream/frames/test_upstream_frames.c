/* SPDX-License-Identifier: BSD-3-Clause */
/* MAC frames out of segments and bursts: sizes, time, buffers, management, ranging. */
#include "test.h"

#include <string.h>

#include "wire/bytes.h"

#include "fixture.h"
#include "upstream_frames.h"

/* The sizes that just go. */
static void smallest_and_largest(void **state) {
	static const uint8_t runt[14] = {2, 0, 0, 0, 0, 1, 2, 1, 0, 0, 0, 2, 0x88, 0xb5};
	struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET};
	uint8_t bytes[BENCH_FRAME_MAX];

	(void)state;
	setup();
	for (int i = 0; i < 2; i++) {
		unsigned stream = i == 0 ? FRAMED : PLAIN;

		add(bytes, bench_frame(bench, 2, &h, runt, sizeof(runt), bytes));
		add(bytes, bench_mac(bench, stream, 1996, bytes));
		go(stream);
		bench_complete(bench, stream);
	}
	assert_int_equal(bench->others, 2);
	assert_memory_equal(bench->other, runt, sizeof(runt));
	bench_close(bench);
}

static void burst_ends_in_a_frame(void **state) {
	(void)state;
	setup();
	for (size_t size = 1; size < FRAME; size++) {
		uint32_t first = bench->serial[PLAIN];

		add_frame(PLAIN);
		add_frame(PLAIN);
		used = FRAME + size;
		go(PLAIN);
		bench_expect(bench, DROP_FRAME_TRUNCATED, 1);
		bench->serial[PLAIN] = first + 1; /* the second comes again, whole */
		add_frame(PLAIN);
		go(PLAIN);
	}
	bench_complete(bench, PLAIN);
	bench_close(bench);
}

/* From its beginning, whether that was a whole header or not. */
static void time_of_a_frame(void **state) {
	uint8_t bytes[BENCH_FRAME_MAX];

	(void)state;
	setup();
	for (size_t cut = 3; cut <= 60; cut += 57) {
		uint32_t serial = bench->serial[FRAMED];

		bench_mac(bench, FRAMED, SIZE, bytes);
		bench_segment(bench, FRAMED, 0, bytes, cut);
		bench_settle(bench);
		bench_after(bench, 60 * BENCH_MS);
		bench_segment(bench, FRAMED, BENCH_NO_POINTER, bytes + cut, 40);
		bench_settle(bench);
		bench_after(bench, 40 * BENCH_MS - 1);
		assert_int_equal(upstream_held(bench->u, UNIT_FRAME), 1);
		bench_after(bench, 1);
		bench_expect(bench, DROP_FRAME_TIMEOUT, 1);
		assert_int_equal(upstream_held(bench->u, UNIT_FRAME), 0);
		bench_segment(bench, FRAMED, BENCH_NO_POINTER, bytes + cut + 40, FRAME - cut - 40);
		bench_expect(bench, DROP_SEGMENT_ORPHAN, 1);
		bench->serial[FRAMED] = serial;
		add_frame(FRAMED);
		go(FRAMED);
		bench_complete(bench, FRAMED);
	}
	bench_close(bench);
}

static void no_buffer_for_a_frame(void **state) {
	struct rte_mbuf *taken[127], *places[127];
	uint32_t first;

	(void)state;
	bench_prepare(bench);
	bench->frame_buffers = bench->piece_buffers = 127;
	bench_start(bench);
	assert_int_equal(rte_pktmbuf_alloc_bulk(bench->frames, taken, 127), 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(bench->pieces, places, 127), 0);
	first = bench->serial[FRAMED];
	for (size_t cut = 0; cut < 10; cut += 3) { /* whole, and a header in pieces */
		add_frame(FRAMED);
		used = cut > 0 ? cut : used;
		go(FRAMED);
		bench_expect(bench, DROP_FRAME_NO_BUFFER, 1);
	}
	rte_pktmbuf_free_bulk(taken, 127);
	rte_pktmbuf_free_bulk(places, 127);
	bench->serial[FRAMED] = first;
	/* the body of the last one is passed over */
	add_frame(FRAMED);
	go(FRAMED);
	bench_expect(bench, DROP_FRAME_POINTER, 0);
	bench_complete(bench, FRAMED);
	bench_close(bench);
}

/* A management message: length field, LLC header, .. */
static size_t message(uint8_t *pdu) {
	for (unsigned i = 0; i < 60; i++)
		pdu[i] = (uint8_t)i;
	store_be16(pdu + 12, 46);
	return 60;
}

static void management(void **state) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_MANAGEMENT};
	uint8_t bytes[BENCH_FRAME_MAX], pdu[64];
	static const unsigned streams[] = {FRAMED, PLAIN, 0};
	size_t size;

	(void)state;
	setup();
	for (unsigned i = 0; i < ARRAY_COUNT(streams); i++) {
		size = bench_frame(bench, 2, &h, pdu, message(pdu), bytes);
		add(bytes, size);
		bytes[20] ^= 4;
		add(bytes, size);
		bench_expect(bench, DROP_MANAGEMENT_CRC, 1);
		add_frame(streams[i]);
		go(streams[i]);
		assert_int_equal(bench->messages, i + 1);
		assert_int_equal(bench->message_size, 60);
		assert_memory_equal(bench->message, pdu, 60);
		bench_complete(bench, streams[i]);
	}
	assert_int_equal(bench_count(bench, COUNTER_MANAGEMENT), bench->messages);
	bench_close(bench);
}

static void control_port(bool none) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_MANAGEMENT};
	uint8_t bytes[BENCH_FRAME_MAX], pdu[64];

	bench_prepare(bench);
	bench->no_control = none;
	bench->control_depth = 8; /* 7 fit */
	bench_start(bench);
	for (int i = 0; i < 10; i++)
		add(bytes, bench_frame(bench, 2, &h, pdu, message(pdu), bytes));
	add_frame(FRAMED);
	go(FRAMED);
	bench_complete(bench, FRAMED);
	assert_int_equal(bench->messages, none ? 0 : 7);
	bench_expect(bench, none ? DROP_NO_CONTROL_PORT : DROP_CONTROL_FULL, none ? 10 : 3);
	bench_close(bench);
}

static void control_port_full_or_none(void **state) {
	(void)state;
	control_port(true);
	control_port(false);
}

/* Any SID, but management only; also where a modem has the SID with segment headers. */
static void ranging(void **state) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_MANAGEMENT};
	uint8_t bytes[BENCH_FRAME_MAX], pdu[64];
	size_t size;

	(void)state;
	setup();
	size = bench_frame(bench, 2, &h, pdu, message(pdu), bytes);
	bench_burst(bench, BENCH_RANGING, 0x3ff0, bytes, size);
	bench_burst(bench, BENCH_RANGING, 0x12, bytes, size);
	bench_burst(bench, BENCH_RANGING, 0, bytes, size - 1);
	bench_expect(bench, DROP_FRAME_TRUNCATED, 1);
	bench_settle(bench);
	assert_int_equal(bench->messages, 2);
	add_frame(FRAMED);
	bench->serial[FRAMED]--;
	bench_burst(bench, BENCH_RANGING, 0x12, room, used);
	bench_expect(bench, DROP_NOT_RANGING, 1);
	memset(room, 0xee, 100);
	used = docsis_up_header_write(&(struct docsis_up_header){.kind = DOCSIS_KIND_FRAGMENT,
								 .privacy = PRIVACY_BP_UP,
								 .fragment_first = true,
								 .fragment_last = true},
				      60, room);
	bench_burst(bench, BENCH_RANGING, 0x12, room, used + 60);
	bench_expect(bench, DROP_NOT_RANGING, 1);
	used = 0;
	bench_settle(bench);
	bench_close(bench);
}

static uint32_t dropped_flow;

static void note_flow(struct tap *tap, struct rte_mbuf *m, unsigned reason) {
	(void)tap;
	assert_int_equal(reason, DROP_FRAME_TRUNCATED);
	dropped_flow = us_meta(m)->frame.flow;
}

/* Whoever looks on is told whose frame it was that was not completed. */
static void whose_it_was(void **state) {
	struct tap tap = {.dropped = note_flow};
	uint8_t frame[BENCH_FRAME_MAX];
	size_t size;

	(void)state;
	bench_open(bench);
	bench->u->counters.tap = &tap;
	size = bench_mac(bench, PLAIN, 100, frame);
	bench_plain(bench, PLAIN, frame, size - 10);
	bench_settle(bench);
	bench->u->counters.tap = NULL;
	assert_int_equal(dropped_flow, bench_streams[PLAIN].flow);
	bench_expect(bench, DROP_FRAME_TRUNCATED, 1);
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(smallest_and_largest),
		cmocka_unit_test(burst_ends_in_a_frame),
		cmocka_unit_test(time_of_a_frame),
		cmocka_unit_test(no_buffer_for_a_frame),
		cmocka_unit_test(management),
		cmocka_unit_test(control_port_full_or_none),
		cmocka_unit_test(ranging),
		cmocka_unit_test(whose_it_was),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
