/* SPDX-License-Identifier: BSD-3-Clause */
/* MAC headers: each reason to drop a frame for its header, and headers in pieces. */
#include "upstream_frames.h"
#include "wire/hcs.h"

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
