/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments of pre-3.0 modems, and the units that are joined of them: their frames, what came behind, and a stop. */
#include <rte_ring_elem.h>

#include "upstream_cases.h"

#define AES 3 /* stream of modem 1, encrypted, without segment headers */
#define SIZE 120
#define FRAME (DOCSIS_MAC_HEADER + SIZE + 4)
#define FIRST FRAGMENT_FIRST
#define LAST FRAGMENT_LAST

static uint8_t unit[70000]; /* split into fragments */
static size_t unit_size;

/* A frame in the clear, as it stands in a unit, also of a modem with a key. */
static void unit_add_clear(unsigned stream, size_t size) {
	unit_size += bench_mac_clear(stream, size, unit + unit_size);
}

static void unit_settle(void) {
	bench_settle();
}

/* Sends the unit in fragments of `part` bytes. Returns how many they were. */
static unsigned send_unit(unsigned stream, size_t part) {
	unsigned count = bench_put_unit(stream, unit, unit_size, part, unit_settle);

	unit_size = 0;
	return count;
}

static void unit_begin(void) {
	unit_size = 0;
}

static const unsigned streams[] = {PLAIN, AES};

EACH_CASE(unit_begin)

CASE(every_size) {
	uint64_t fragments = 0;

	for (size_t i = 0; i < ARRAY_COUNT(streams); i++) {
		for (size_t part = 3; part < 2 * FRAME + 10; part += part < 40 ? 1 : 17) {
			unit_size += docsis_concatenation_write(2, 2 * FRAME, unit);
			unit_add_clear(streams[i], SIZE);
			unit_add_clear(streams[i], SIZE);
			fragments += send_unit(streams[i], part);
			bench_complete(streams[i]);
			unit_add_clear(streams[i], SIZE); /* alone */
			fragments += send_unit(streams[i], part);
			bench_complete(streams[i]);
		}
	}
	assert_int_equal(bench_count(COUNTER_FRAGMENTS), fragments);
	for (unsigned p = 0; p < PENDING_POOLS; p++)
		assert_int_equal(bench->u->pending_set.buffers[p], 0);
}

static void handle(unsigned sequence, int flags, const uint8_t *bytes, size_t size) {
	bench_put_fragment(PLAIN, sequence, flags, bytes, size);
	bench_settle();
}

CASE(order_of_fragments) {
	static const uint8_t bytes[50];
	static const struct {
		uint8_t sequence;
		int flags;
		unsigned dropped;
	} rows[] = {
		{3, 0, 1}, /* no first one */
		{3, LAST, 1}, {3, FIRST, 0},  {4, 0, 0}, {6, 0, 3}, /* 5 is missing: all of it */
		{7, LAST, 1}, {15, FIRST, 0},
	};

	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		handle(rows[i].sequence, rows[i].flags, bytes, sizeof(bytes));
		bench_dropped(DROP_FRAGMENT_ORDER, rows[i].dropped);
	}
	unit_add_clear(PLAIN, SIZE);
	handle(15, FIRST, unit, 50); /* begins again */
	bench_dropped(DROP_FRAGMENT_ORDER, 1);
	handle(0, LAST, unit + 50, unit_size - 50);
}

static void no_crc(void) {
	bench->sg.upstream.verify_crc = false; /* that of fragments is verified always */
}

CASE(crc_of_fragments, .prepare = no_crc) {
	uint8_t out[BENCH_FRAME_MAX];

	for (size_t i = 0; i < ARRAY_COUNT(streams); i++) {
		size_t size = bench_fragment(streams[i], 0, FIRST, unit, 50, out);

		for (size_t at = 12; at < size; at++) {
			out[at] ^= 0x20;
			bench_handle(streams[i], out, size);
			bench_dropped(DROP_FRAGMENT_CRC, 1);
			out[at] ^= 0x20;
		}
	}
}

CASE(longest_unit, .held_by_modem = 1000000) {
	for (size_t more = 0; more < 2; more++) {
		uint32_t serial = bench->serial[PLAIN];
		unsigned count;

		while (unit_size + 2 * FRAME < DOCSIS_FRAME_MAX)
			unit_add_clear(PLAIN, SIZE);
		memset(unit + unit_size, 0xff, FRAME * 2);
		unit_size = DOCSIS_FRAME_MAX + more;
		count = send_unit(PLAIN, 1900);
		if (more > 0) {
			bench_dropped(DROP_FRAGMENT_TOO_LONG, count);
			bench->serial[PLAIN] = serial;
		}
		bench_complete(PLAIN);
	}
}

CASE(time_of_fragments) {
	static const uint8_t bytes[50];

	handle(0, FIRST, bytes, 50);
	bench_after(60 * BENCH_MS);
	handle(1, 0, bytes, 50);
	bench_after(40 * BENCH_MS - 1);
	assert_int_equal(upstream_pending(bench->u, UNIT_FRAME), 2);
	bench_after(1);
	bench_dropped(DROP_FRAME_TIMEOUT, 2);
}

/* The privacy element of a frame in a unit, which says that it is not encrypted, names a SID of the flow. */
CASE(a_foreign_sid_in_a_unit) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET, .privacy = PRIVACY_BP_UP};
	uint8_t ethernet[SIZE] = {0};

	h.sid = bench_streams[AES].sid;
	unit_size = bench_frame(3, &h, ethernet, SIZE, unit);
	unit_add_clear(PLAIN, SIZE);
	send_unit(PLAIN, 70);
	bench_dropped(DROP_PRIVACY_SID, 1);
}

CASE(where_a_unit_asks) {
	static const uint32_t sessions[2] = {BENCH_SC_QAM, BENCH_OFDMA_ALONE};
	struct segment_header h = {.sid_cluster = 5, .pointer_valid = true};
	struct us_request request;
	uint8_t out[BENCH_FRAME_MAX], whole[DOCSIS_MAC_HEADER];
	size_t half = docsis_request_write(1, bench_streams[FRAMED].sid, whole) / 2;

	for (int i = 0; i < 2; i++) {
		size_t size = bench_fragment(FRAMED, (uint8_t)i, i == 0 ? FIRST : LAST,
					     whole + i * half, half, out + SEGMENT_HEADER_SIZE);

		h.sequence = (uint16_t)i;
		segment_header_write(&h, out);
		bench_burst(sessions[i], bench_streams[FRAMED].sid, out,
			    SEGMENT_HEADER_SIZE + size);
		pipeline_run(upstream_pipeline(bench->u, 0));
		pipeline_run(upstream_pipeline(bench->u, 0));
	}
	assert_int_equal(
		rte_ring_sc_dequeue_elem(bench->u->requests.ring, &request, sizeof(request)), 0);
	assert_int_equal(request.channel, 2);
	assert_int_equal(request.modem, 2);
	assert_int_equal(request.kind, REQUEST_FRAME);
}

/* What was joined is no fragment, is not encrypted, and ends where its last frame does. */
CASE(what_is_in_a_unit) {
	uint8_t out[50] = {0};

	unit_size = bench_fragment(PLAIN, 0, FIRST | LAST, out, 50, unit);
	unit_add_clear(PLAIN, SIZE); /* goes on behind it */
	send_unit(PLAIN, 70);
	bench_dropped(DROP_FRAME_RESERVED, 1);
	unit_size = bench_mac(AES, SIZE, unit); /* encrypted once more */
	bench->serial[AES]--;
	unit_add_clear(AES, SIZE);
	send_unit(AES, 70);
	bench_dropped(DROP_KEY_UNKNOWN, 1);
	unit_add_clear(PLAIN, SIZE);
	unit_add_clear(PLAIN, SIZE);
	bench->serial[PLAIN]--;
	unit_size -= 1;
	send_unit(PLAIN, 70);
	bench_dropped(DROP_FRAME_TRUNCATED, 1);
}

CASE(side_exits_of_a_unit) {
	unit_size += docsis_request_write(9, 0x40, unit);
	unit_size += bench_clear(3, DOCSIS_KIND_MANAGEMENT, unit + 2000, 60, unit + unit_size);
	unit_add_clear(PLAIN, SIZE);
	send_unit(PLAIN, 30);
	assert_int_equal(bench->messages, 1);
	assert_int_equal(bench_count(COUNTER_REQUEST_FRAMES), 1);
	assert_int_equal(bench->u->requests.sink.by_modem[3][REQUEST_FRAME], 1);
}

/*
 * Fragments have no place in flows with segment headers, but nobody keeps a modem from sending them.
 * A frame that is incomplete has nothing to do with what is joined meanwhile.
 */
CASE(beside_an_incomplete_frame) {
	uint8_t bytes[BENCH_FRAME_MAX];
	size_t size;

	unit_add_clear(FRAMED, SIZE);
	size = bench_fragment(FRAMED, 0, FIRST | LAST, unit, unit_size, bytes);
	bench_mac(FRAMED, SIZE, bytes + size);
	bench_handle(FRAMED, bytes, size + 40);
	assert_int_equal(bench->came[FRAMED], 1);
	assert_int_equal(upstream_pending(bench->u, UNIT_FRAME), 1);
	bench_segment(FRAMED, FRAME - 40, bytes + size + 40, FRAME - 40);
	bench_settle();
	bench_complete(FRAMED);
	/* and beside a stream that waits for a pointer */
	bench_handle_rest(FRAMED, "something", 9);
	bench_dropped(DROP_SEGMENT_ORPHAN, 1);
}

/* A unit that ends in a frame does not touch the burst that is being taken apart meanwhile. */
CASE(beside_a_long_burst, .prepare = bench_long_packets) {
	uint8_t burst[16384];
	size_t size;

	unit_add_clear(PLAIN, SIZE);
	bench->serial[PLAIN]--;
	size = bench_fragment(PLAIN, 0, FIRST | LAST, unit, unit_size - 1, burst);
	/* more frames than a round takes out */
	size += bench_fill(PLAIN, BENCH_SMALLEST, burst + size, 9000 - size);
	bench_handle(PLAIN, burst, size);
	bench_dropped(DROP_FRAME_TRUNCATED, 1);
}

/* The last step of a round begins a frame of which a byte is missing; behind its unit are a frame and another unit. */
CASE(a_stop_in_a_frame_of_a_unit, .lossy = true) {
	const unsigned steps = 4 * PIPELINE_BURST; /* the first one takes the unit */
	uint8_t out[BENCH_FRAME_MAX];
	size_t size;

	for (unsigned i = 1; i < steps - 1; i++)
		unit_size += docsis_request_write(1, bench_streams[PLAIN].sid, unit + unit_size);
	unit_add_clear(PLAIN, SIZE);
	size = bench_fragment(PLAIN, 0, FIRST | LAST, unit, unit_size - 1, out);
	size += bench_mac(PLAIN, SIZE, out + size);
	size += bench_fragment(PLAIN, 0, FIRST | LAST, unit, DOCSIS_MAC_HEADER, out + size);
	bench_plain(PLAIN, out, size);
	while (bench->u->extract_joined.cursor.segment == NULL)
		bench_round();
	assert_int_equal(bench->u->streams.incomplete_frames, 1);
	assert_int_equal(bench->u->list.queues[US_JOINED].count, 2);
	bench_expect(DROP_STOPPED, 2);
	upstream_stop(bench->u);
}
