/* SPDX-License-Identifier: BSD-3-Clause */
/* What was joined of fragments: the frames in it, what came behind it, and a stop. */
#include "test.h"

#include <rte_ring_elem.h>

#include "fixture.h"
#include "upstream_units.h"

/* The privacy element of a frame in a unit, which says that it is not encrypted, names a SID of the flow. */
static void a_foreign_sid_in_a_unit(void **state) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET, .privacy = PRIVACY_BP_UP};
	uint8_t ethernet[SIZE] = {0};

	(void)state;
	setup();
	h.sid = bench_streams[AES].sid;
	unit_size = bench_frame(bench, 3, &h, ethernet, SIZE, unit);
	unit_add_clear(PLAIN, SIZE);
	send_unit(PLAIN, 70);
	dropped(DROP_PRIVACY_SID, 1);
	bench_complete(bench, PLAIN);
	bench_close(bench);
}

/* What a modem asks for in a unit counts on the channel where that ended. */
static void where_a_unit_asks(void **state) {
	static const uint32_t sessions[2] = {BENCH_SC_QAM, BENCH_OFDMA_ALONE};
	struct segment_header h = {.sid_cluster = 5, .pointer_valid = true};
	struct us_request request;
	uint8_t out[BENCH_FRAME_MAX], whole[DOCSIS_MAC_HEADER];
	size_t half = docsis_request_write(1, bench_streams[FRAMED].sid, whole) / 2;

	(void)state;
	setup();
	for (int i = 0; i < 2; i++) {
		size_t size = fragment(FRAMED, (uint8_t)i, i == 0 ? FIRST : LAST, whole + i * half,
				       half, out + SEGMENT_HEADER_SIZE);

		h.sequence = (uint16_t)i;
		segment_header_write(&h, out);
		bench_burst(bench, sessions[i], bench_streams[FRAMED].sid, out,
			    SEGMENT_HEADER_SIZE + size);
		pipeline_run(upstream_pipeline(bench->u, 0));
		pipeline_run(upstream_pipeline(bench->u, 0));
	}
	assert_int_equal(
		rte_ring_sc_dequeue_elem(bench->u->requests.ring, &request, sizeof(request)), 0);
	assert_int_equal(request.channel, 2);
	assert_int_equal(request.modem, 2);
	assert_int_equal(request.kind, REQUEST_FRAME);
	bench_close(bench);
}

/* What was joined is no fragment, is not encrypted, and ends where its last frame does. */
static void what_is_in_a_unit(void **state) {
	uint8_t out[BENCH_FRAME_MAX];

	(void)state;
	setup();
	unit_size = fragment(PLAIN, 0, FIRST | LAST, out, 50, unit);
	unit_add_clear(PLAIN, SIZE); /* goes on behind it */
	send_unit(PLAIN, 70);
	dropped(DROP_FRAME_RESERVED, 1);
	unit_add(AES, SIZE); /* encrypted once more */
	bench->serial[AES]--;
	unit_add_clear(AES, SIZE);
	send_unit(AES, 70);
	dropped(DROP_KEY_UNKNOWN, 1);
	unit_add_clear(PLAIN, SIZE);
	unit_add_clear(PLAIN, SIZE);
	bench->serial[PLAIN]--;
	unit_size -= 1;
	send_unit(PLAIN, 70);
	dropped(DROP_FRAME_TRUNCATED, 1);
	bench_complete(bench, PLAIN);
	bench_complete(bench, AES);
	bench_close(bench);
}

/* Management and requests are found in units, too. */
static void side_exits_of_a_unit(void **state) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_MANAGEMENT};

	(void)state;
	setup();
	unit_size += docsis_request_write(9, 0x40, unit);
	unit_size += bench_frame(bench, 3, &h, unit + 2000, 60, unit + unit_size);
	unit_add_clear(PLAIN, SIZE);
	send_unit(PLAIN, 30);
	assert_int_equal(bench->messages, 1);
	assert_int_equal(bench_count(bench, COUNTER_REQUEST_FRAMES), 1);
	assert_int_equal(bench->u->requests.sink.by_modem[3][REQUEST_FRAME], 1);
	bench_complete(bench, PLAIN);
	bench_close(bench);
}

/* Nothing overtakes what comes out of a unit. */
static void order_behind_a_unit(void **state) {
	uint8_t burst[16384];
	size_t size;

	(void)state;
	bench_prepare(bench);
	bench->packet_buffers = 255;
	bench->packet_room = 20000;
	bench_start(bench);
	unit_size = 0;
	for (int turn = 0; turn < 20; turn++) {
		while (unit_size + 200 < 1900)
			unit_add_clear(PLAIN, BENCH_SMALLEST);
		size = fragment(PLAIN, 0, FIRST | LAST, unit, unit_size, burst);
		unit_size = 0;
		while (size + 200 < 8000)
			size += bench_mac(bench, PLAIN, BENCH_SMALLEST, burst + size);
		bench_plain(bench, PLAIN, burst, size);
	}
	bench_settle(bench);
	bench_complete(bench, PLAIN);
	bench_close(bench);
}

/*
 * Fragments have no place in flows with segment headers, but nobody keeps a modem from sending them.
 * A frame that is incomplete has nothing to do with what is joined meanwhile.
 */
static void beside_an_incomplete_frame(void **state) {
	uint8_t bytes[BENCH_FRAME_MAX];
	size_t size;

	(void)state;
	setup();
	unit_add_clear(FRAMED, SIZE);
	size = fragment(FRAMED, 0, FIRST | LAST, unit, unit_size, bytes);
	bench_mac(bench, FRAMED, SIZE, bytes + size);
	bench_segment(bench, FRAMED, 0, bytes, size + 40);
	bench_settle(bench);
	assert_int_equal(bench->came[FRAMED], 1);
	assert_int_equal(upstream_held(bench->u, UNIT_FRAME), 1);
	bench_segment(bench, FRAMED, FRAME - 40, bytes + size + 40, FRAME - 40);
	bench_settle(bench);
	bench_complete(bench, FRAMED);
	/* and beside a stream that waits for a pointer */
	bench_segment(bench, FRAMED, BENCH_NO_POINTER, "something", 9);
	bench_settle(bench);
	dropped(DROP_SEGMENT_ORPHAN, 1);
	bench_close(bench);
}

/* A unit that ends in a frame does not touch the burst that is being taken apart meanwhile. */
static void beside_a_long_burst(void **state) {
	uint8_t burst[16384];
	size_t size;

	(void)state;
	bench_prepare(bench);
	bench->packet_buffers = 255;
	bench->packet_room = 20000;
	bench_start(bench);
	unit_size = 0;
	unit_add_clear(PLAIN, SIZE);
	bench->serial[PLAIN]--;
	size = fragment(PLAIN, 0, FIRST | LAST, unit, unit_size - 1, burst);
	while (size + 100 < 9000) /* more frames than a round takes out */
		size += bench_mac(bench, PLAIN, BENCH_SMALLEST, burst + size);
	bench_plain(bench, PLAIN, burst, size);
	bench_settle(bench);
	dropped(DROP_FRAME_TRUNCATED, 1);
	bench_complete(bench, PLAIN);
	bench_close(bench);
}

/* Bursts of units, each a fragment that holds many small frames, and of a frame behind them. */
static void send_small_frames(unsigned bursts) {
	uint8_t burst[BENCH_PACKET_MAX];

	setup();
	for (unsigned n = 0; n < bursts; n++) {
		size_t size = 0;

		for (uint8_t i = 0; i < 2; i++) {
			unit_size = 0;
			while (unit_size + 100 < 1900)
				unit_add_clear(PLAIN, BENCH_SMALLEST);
			size += fragment(PLAIN, i, FIRST | LAST, unit, unit_size, burst + size);
		}
		size += bench_mac(bench, PLAIN, BENCH_SMALLEST, burst + size);
		bench_plain(bench, PLAIN, burst, size);
	}
}

/* Few fragments may be many frames: a round gives on no more than two bursts of them. */
static void what_a_round_gives_on(void **state) {
	unsigned rounds = 0, came, most = 0;

	(void)state;
	send_small_frames(5);
	for (; bench->came[PLAIN] < bench->serial[PLAIN]; rounds++) {
		bench_round(bench);
		came = bench_take(bench, UINT32_MAX);
		most = came > most ? came : most;
		assert_in_range(rounds, 0, 100);
	}
	assert_int_equal(most, 2 * PIPELINE_BURST);
	bench_close(bench);
}

/* In the middle of a unit, with others and frames in the queue behind it. */
static void a_stop_in_a_unit(void **state) {
	uint64_t held;

	(void)state;
	send_small_frames(5);
	while (bench->u->extract_joined.cut.segment == NULL)
		bench_round(bench);
	bench_take(bench, UINT32_MAX);
	held = upstream_held(bench->u, UNIT_FRAME);
	assert_true(held > 0 && bench->u->list.queues[US_JOINED].count > held);
	upstream_stop(bench->u);
	assert_int_equal(rte_mempool_in_use_count(bench->frames), 0);
	bench_expect(bench, DROP_STOPPED, held);
	bench_close(bench);
}

/* The last step of a round begins a frame of which a byte is missing. */
static void a_stop_in_a_frame_of_a_unit(void **state) {
	const unsigned steps = 4 * PIPELINE_BURST; /* the first one takes the unit */
	uint8_t out[BENCH_FRAME_MAX];

	(void)state;
	setup();
	for (unsigned i = 1; i < steps - 1; i++)
		unit_size += docsis_request_write(1, bench_streams[PLAIN].sid, unit + unit_size);
	unit_add_clear(PLAIN, SIZE);
	bench->serial[PLAIN]--;
	bench_plain(bench, PLAIN, out, fragment(PLAIN, 0, FIRST | LAST, unit, unit_size - 1, out));
	while (bench->u->extract_joined.cut.segment == NULL)
		bench_round(bench);
	assert_int_equal(bench->u->streams.incomplete_frames, 1);
	bench_expect(bench, DROP_STOPPED, 1);
	upstream_stop(bench->u);
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_foreign_sid_in_a_unit),
		cmocka_unit_test(where_a_unit_asks),
		cmocka_unit_test(what_is_in_a_unit),
		cmocka_unit_test(side_exits_of_a_unit),
		cmocka_unit_test(order_behind_a_unit),
		cmocka_unit_test(beside_an_incomplete_frame),
		cmocka_unit_test(beside_a_long_burst),
		cmocka_unit_test(what_a_round_gives_on),
		cmocka_unit_test(a_stop_in_a_unit),
		cmocka_unit_test(a_stop_in_a_frame_of_a_unit),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
