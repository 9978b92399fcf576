/* SPDX-License-Identifier: BSD-3-Clause */
/* MAC frames out of segments and bursts: sizes, time, buffers, management, ranging, and each reason to drop a frame for its
 * header. */
#include "upstream_cases.h"
#include "wire/bytes.h"
#include "wire/hcs.h"

#define SIZE 120
#define FRAME (DOCSIS_MAC_HEADER + SIZE + 4)

static uint8_t room[16384];
static size_t used;

static void add(const void *bytes, size_t size) {
	assert_true(used + size <= sizeof(room));
	memcpy(room + used, bytes, size);
	used += size;
}

/* The next good frame of the stream. */
static void add_frame(unsigned stream) {
	uint8_t bytes[BENCH_FRAME_MAX];

	add(bytes, bench_mac(stream, SIZE, bytes));
}

static void go(unsigned stream) {
	bench_send(stream, room, used);
	used = 0;
	bench_settle();
}

static void good_frame(unsigned stream) {
	add_frame(stream);
	go(stream);
}

CASE(burst_ends_in_a_frame) {
	for (size_t size = 1; size < FRAME; size++) {
		uint32_t first = bench->serial[PLAIN];

		add_frame(PLAIN);
		add_frame(PLAIN);
		used = FRAME + size;
		go(PLAIN);
		bench_expect(DROP_FRAME_TRUNCATED, 1);
		bench->serial[PLAIN] = first + 1; /* the second comes again, whole */
		good_frame(PLAIN);
	}
}

/* From its beginning, whether that was a whole header or not. */
CASE(time_of_a_frame) {
	uint8_t bytes[BENCH_FRAME_MAX];

	for (size_t cut = 3; cut <= 60; cut += 57) {
		uint32_t serial = bench->serial[FRAMED];

		bench_mac(FRAMED, SIZE, bytes);
		bench_handle(FRAMED, bytes, cut);
		bench_after(60 * BENCH_MS);
		bench_handle_rest(FRAMED, bytes + cut, 40);
		bench_after(40 * BENCH_MS - 1);
		assert_int_equal(upstream_pending(bench->u, UNIT_FRAME), 1);
		bench_after(1);
		bench_expect(DROP_FRAME_TIMEOUT, 1);
		assert_int_equal(upstream_pending(bench->u, UNIT_FRAME), 0);
		bench_handle_rest(FRAMED, bytes + cut + 40, FRAME - cut - 40);
		bench_expect(DROP_SEGMENT_ORPHAN, 1);
		bench->serial[FRAMED] = serial;
		good_frame(FRAMED);
		bench_complete(FRAMED);
	}
}

CASE(no_buffer_for_a_frame, .frame_buffers = 127, .piece_buffers = 127) {
	struct rte_mbuf *taken[127], *places[127];
	uint32_t first = bench->serial[FRAMED];

	assert_int_equal(rte_pktmbuf_alloc_bulk(bench->frames, taken, 127), 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(bench->pieces, places, 127), 0);
	for (size_t cut = 0; cut < 10; cut += 3) { /* whole, and a header in pieces */
		add_frame(FRAMED);
		used = cut > 0 ? cut : used;
		go(FRAMED);
		bench_expect(DROP_FRAME_NO_BUFFER, 1);
	}
	rte_pktmbuf_free_bulk(taken, 127);
	rte_pktmbuf_free_bulk(places, 127);
	bench->serial[FRAMED] = first;
	good_frame(FRAMED); /* the body of the last one is passed over */
}

/* A management message of modem 2: length field, LLC header, .. Returns its size as a MAC frame. */
static size_t message(uint8_t *pdu, uint8_t *bytes) {
	for (unsigned i = 0; i < 60; i++)
		pdu[i] = (uint8_t)i;
	store_be16(pdu + 12, 46);
	return bench_clear(2, DOCSIS_KIND_MANAGEMENT, pdu, 60, bytes);
}

CASE(management) {
	uint8_t bytes[BENCH_FRAME_MAX], pdu[64];
	static const unsigned streams[] = {FRAMED, PLAIN, 0};

	for (unsigned i = 0; i < ARRAY_COUNT(streams); i++) {
		size_t size = message(pdu, bytes);

		add(bytes, size);
		bytes[20] ^= 4;
		add(bytes, size);
		bench_expect(DROP_MANAGEMENT_CRC, 1);
		good_frame(streams[i]);
		assert_int_equal(bench->messages, i + 1);
		assert_int_equal(bench->message_size, 60);
		assert_memory_equal(bench->message, pdu, 60);
		bench_complete(streams[i]);
	}
	assert_int_equal(bench_count(COUNTER_MANAGEMENT), bench->messages);
}

static void no_control_port(void) {
	bench->no_control = true;
}

CASE(ten_messages, .control_depth = 8) {
	bool none = bench->no_control;
	uint8_t bytes[BENCH_FRAME_MAX], pdu[64];

	for (int i = 0; i < 10; i++)
		add(bytes, message(pdu, bytes));
	good_frame(FRAMED);
	assert_int_equal(bench->messages, none ? 0 : 7);
	bench_expect(none ? DROP_NO_CONTROL_PORT : DROP_CONTROL_FULL, none ? 10 : 3);
}
CASE_AGAIN(no_control_port, ten_messages)

/* Any SID, but management only; also where a modem has the SID with segment headers. */
CASE(ranging) {
	const struct docsis_up_header fragment = {.kind = DOCSIS_KIND_FRAGMENT,
						  .privacy = PRIVACY_BP_UP,
						  .fragment_first = true,
						  .fragment_last = true};
	uint8_t bytes[BENCH_FRAME_MAX], pdu[64];
	size_t size = message(pdu, bytes);

	bench_burst(BENCH_RANGING, 0x3ff0, bytes, size);
	bench_burst(BENCH_RANGING, 0x12, bytes, size);
	bench_burst(BENCH_RANGING, 0, bytes, size - 1);
	bench_expect(DROP_FRAME_TRUNCATED, 1);
	bench_settle();
	assert_int_equal(bench->messages, 2);
	bench_burst(BENCH_RANGING, 0x12, room, bench_mac(FRAMED, SIZE, room));
	bench->serial[FRAMED]--;
	memset(room, 0xee, 100);
	size = docsis_up_header_write(&fragment, 60, room);
	bench_burst(BENCH_RANGING, 0x12, room, size + 60);
	bench_expect(DROP_NOT_RANGING, 2);
	bench_settle();
}

static uint32_t dropped_flow;

static void note_flow(struct tap *tap, struct rte_mbuf *m, unsigned reason) {
	(void)tap;
	assert_int_equal(reason, DROP_FRAME_TRUNCATED);
	dropped_flow = us_meta(m)->frame.flow;
}

CASE(whose_it_was, .lossy = true) {
	struct tap tap = {.dropped = note_flow};
	uint8_t frame[BENCH_FRAME_MAX];

	bench->u->counters.tap = &tap;
	bench_handle(PLAIN, frame, bench_mac(PLAIN, 100, frame) - 10);
	bench->u->counters.tap = NULL;
	assert_int_equal(dropped_flow, bench_streams[PLAIN].flow);
	bench_expect(DROP_FRAME_TRUNCATED, 1);
}

/* A header with these first bytes, its HCS, and `pdu` bytes of 0xEE. */
static void add_raw(const uint8_t *header, size_t size, size_t pdu) {
	add(header, size);
	docsis_hcs_write(room + used - size, size);
	used += DOCSIS_HCS_SIZE;
	memset(room + used, 0xee, pdu);
	used += pdu;
}

/* The header between good frames. With DROP_FRAME_LENGTH nothing tells where the next one begins: what follows is passed
 * over, up to the next pointer or burst. */
static void between(const uint8_t *header, size_t size, size_t pdu, enum drop_reason reason) {
	for (unsigned turn = 0; turn < 2; turn++) {
		unsigned stream = turn == 0 ? FRAMED : PLAIN;
		uint64_t passed = bench_count(COUNTER_RESYNC_BYTES);

		add_frame(stream);
		add_raw(header, size, pdu);
		if (reason == DROP_FRAME_LENGTH) {
			go(stream);
			assert_true(bench_count(COUNTER_RESYNC_BYTES) >= passed + pdu);
			if (stream == FRAMED) {
				bench_segment(stream, BENCH_NO_POINTER, room, 10);
				bench_expect(DROP_SEGMENT_ORPHAN, 1);
			}
		}
		good_frame(stream);
		bench_dropped(reason, 1);
		bench_complete(stream);
	}
}

CASE(headers_that_are_none, .prepare = bench_long_packets) {
	between((const uint8_t[]){0xd0, 0, 0, 30}, 4, 30, DROP_FRAME_RESERVED);
	between((const uint8_t[]){DOCSIS_FC_TIMING, 0, 0, 40}, 4, 40, DROP_FRAME_RESERVED);
	between((const uint8_t[]){0x01, 2, 0, 42, 0x77, 0}, 6, 40, DROP_FRAME_EHDR);
	between((const uint8_t[]){0x01, 2, 0, 2, 0x77, 0}, 6, 0, DROP_FRAME_EHDR);
	between((const uint8_t[]){DOCSIS_FC_CONCATENATION | 1, 2, 0, 20}, 4, 20, DROP_FRAME_EHDR);
	between((const uint8_t[]){0x01, 2, 0, 42, 0x61, 7}, 6, 40, DROP_FRAME_PHS);
	between((const uint8_t[]){0, 0, 0, 17}, 4, 17, DROP_FRAME_RUNT);
	between((const uint8_t[]){0, 0, 0, 1}, 4, 1, DROP_FRAME_RUNT);
	between((const uint8_t[]){0xc7, 6, 0, 10, 0x35, 1, 0, 0x40, 0, 0x30}, 10, 4,
		DROP_FRAME_RUNT);
	between((const uint8_t[]){0, 0, 2001 >> 8, 2001 & 0xff}, 4, 2001, DROP_FRAME_TOO_LONG);
	between((const uint8_t[]){DOCSIS_FC_MANAGEMENT, 0, 0x20, 0}, 4, 0x2000,
		DROP_FRAME_TOO_LONG);
	between((const uint8_t[]){0x01, 4, 0, 3, 0, 0, 0, 0}, 8, 50, DROP_FRAME_LENGTH);
}

/* Nothing tells where the next frame begins: what stands in the segment in which the header was found bad is passed over,
 * up to the next pointer. With each bit, and cut at each byte. */
CASE(every_bit_of_a_header) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET, .request = true, .sid = 0x30};
	uint8_t bytes[BENCH_FRAME_MAX] = {0};
	size_t header = docsis_up_header_size(&h), last = 8 * header - 1;

	for (size_t i = 0; i < last + header; i++) {
		size_t size = bench_frame(2, &h, bytes + 1000, SIZE, bytes);
		size_t bit = RTE_MIN(i, last), cut = i - bit;
		uint64_t passed = bench_count(COUNTER_RESYNC_BYTES);

		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (bytes[1] > 4)
			size = 400; /* a longer header */
		add_frame(FRAMED);
		add(bytes, cut > 0 ? cut : size);
		go(FRAMED);
		if (cut > 0)
			bench_handle_rest(FRAMED, bytes + cut, size - cut);
		bench_dropped(DROP_FRAME_HCS, 1);
		assert_int_equal(bench_count(COUNTER_RESYNC_BYTES), passed + size - cut);
	}
	good_frame(FRAMED);
	assert_int_equal(bench_count(COUNTER_REQUESTS), 0);
}

/* Headers that are all of their frame: a pointer farther on contradicts them, if they are good. All bytes before it are
 * passed over; what a good one asks for is taken. */
CASE(pointer_behind_a_header) {
	static const enum drop_reason reasons[] = {DROP_FRAME_POINTER, DROP_FRAME_POINTER,
						   DROP_FRAME_RUNT};

	for (unsigned i = 0; i < 6; i++) {
		bool good = i % 2;
		uint8_t bytes[2 * FRAME] = {0};

		switch (i / 2) {
		case 0: docsis_request_write(5, 0x30, bytes); break;
		case 1: docsis_concatenation_write(2, 500, bytes); break;
		default: docsis_hcs_write(bytes, DOCSIS_MAC_HEADER - 2); /* no bytes behind it */
		}
		bytes[4] ^= !good;
		bench_send(FRAMED, bytes, 5);
		bench_mac(FRAMED, SIZE, bytes + 15);
		bench_segment(FRAMED, 10, bytes + 5, FRAME + 10);
		bench_settle();
		bench_dropped(good ? reasons[i / 2] : DROP_FRAME_HCS, 1);
		assert_int_equal(bench_count(COUNTER_RESYNC_BYTES), 10 * (i + 1));
		bench_complete(FRAMED);
	}
	assert_int_equal(bench_count(COUNTER_REQUESTS), 1);
}
