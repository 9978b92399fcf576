/* SPDX-License-Identifier: BSD-3-Clause */
/* MAC headers: each reason to drop a frame for its header, and headers in pieces. */
#include "test.h"

#include "fixture.h"
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

/* The header between good frames, with a stream that goes on behind it. */
static void between(const uint8_t *header, size_t size, size_t pdu, enum drop_reason reason) {
	for (unsigned turn = 0; turn < 2; turn++) {
		unsigned stream = turn == 0 ? FRAMED : PLAIN;

		add_frame(stream);
		add_raw(header, size, pdu);
		add_frame(stream);
		go(stream);
		bench_expect(bench, reason, 1);
		assert_int_equal(bench->u->counters.drops[reason], bench->expected[reason]);
		bench_complete(bench, stream);
	}
}

/* The same where nobody knows how long the frame is. */
static void in_front_of(const uint8_t *header, size_t size, enum drop_reason reason) {
	for (unsigned turn = 0; turn < 2; turn++) {
		unsigned stream = turn == 0 ? FRAMED : PLAIN;
		uint64_t passed = bench_count(bench, COUNTER_RESYNC_BYTES);

		add_frame(stream);
		add_raw(header, size, 50);
		go(stream);
		bench_expect(bench, reason, 1);
		assert_int_equal(bench->u->counters.drops[reason], bench->expected[reason]);
		assert_true(bench_count(bench, COUNTER_RESYNC_BYTES) >= passed + 50);
		if (stream == FRAMED) {
			bench_segment(bench, stream, BENCH_NO_POINTER, room, 10);
			bench_expect(bench, DROP_SEGMENT_ORPHAN, 1);
		}
		add_frame(stream);
		go(stream);
		bench_complete(bench, stream);
	}
}

static void headers_that_are_none(void **state) {
	(void)state;
	bench_prepare(bench);
	bench->packet_buffers = 63;
	bench->packet_room = 16384;
	bench_start(bench);
	between((const uint8_t[]){0xd0, 0, 0, 30}, 4, 30, DROP_FRAME_RESERVED);
	between((const uint8_t[]){DOCSIS_FC_TIMING, 0, 0, 40}, 4, 40, DROP_FRAME_RESERVED);
	between((const uint8_t[]){0x01, 2, 0, 42, 0x77, 0}, 6, 40, DROP_FRAME_EHDR);
	between((const uint8_t[]){0x01, 2, 0, 2, 0x77, 0}, 6, 0, DROP_FRAME_EHDR);
	between((const uint8_t[]){DOCSIS_FC_CONCATENATION | 1, 2, 0, 20}, 4, 20, DROP_FRAME_EHDR);
	between((const uint8_t[]){0, 0, 0, 17}, 4, 17, DROP_FRAME_RUNT);
	between((const uint8_t[]){0, 0, 0, 1}, 4, 1, DROP_FRAME_RUNT);
	between((const uint8_t[]){0xc7, 6, 0, 10, 0x35, 1, 0, 0x40, 0, 0x30}, 10, 4,
		DROP_FRAME_RUNT);
	between((const uint8_t[]){0, 0, 2001 >> 8, 2001 & 0xff}, 4, 2001, DROP_FRAME_TOO_LONG);
	between((const uint8_t[]){DOCSIS_FC_MANAGEMENT, 0, 0x20, 0}, 4, 0x2000,
		DROP_FRAME_TOO_LONG);
	in_front_of((const uint8_t[]){0x01, 4, 0, 3, 0, 0, 0, 0}, 8, DROP_FRAME_LENGTH);
	bench_close(bench);
}

/* Nothing tells where the next frame begins: up to the next pointer, or to the end of the burst. */
static void every_bit_of_a_header(void **state) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET, .request = true, .sid = 0x30};
	uint8_t bytes[BENCH_FRAME_MAX] = {0};
	size_t header = docsis_up_header_size(&h), size;

	(void)state;
	setup();
	for (unsigned bit = 0; bit < 8 * header; bit++) {
		size = bench_frame(bench, 2, &h, bytes + 1000, SIZE, bytes);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (bytes[1] > 4)
			size = 400; /* a longer header */
		add_frame(FRAMED);
		add(bytes, size);
		go(FRAMED);
		bench_expect(bench, DROP_FRAME_HCS, 1);
		assert_int_equal(bench->u->counters.drops[DROP_FRAME_HCS],
				 bench->expected[DROP_FRAME_HCS]);
	}
	assert_int_equal(bench_count(bench, COUNTER_REQUESTS), 0);
	bench_complete(bench, FRAMED);
	bench_close(bench);
}

/* A pointer that is still ahead helps in the same segment. */
static void pointer_behind_a_bad_header(void **state) {
	uint8_t bytes[3 * FRAME];

	(void)state;
	setup();
	bench_mac(bench, FRAMED, SIZE, bytes);
	bytes[4] ^= 1;
	bench_segment(bench, FRAMED, 0, bytes, 5); /* the end of its HCS comes later */
	bench_mac(bench, FRAMED, SIZE, bytes + FRAME);
	bench_segment(bench, FRAMED, FRAME - 5, bytes + 5, 2 * FRAME - 5);
	bench_settle(bench);
	bench_expect(bench, DROP_FRAME_HCS, 1);
	assert_int_equal(bench->came[FRAMED], 1);
	bench_close(bench);
}

/* Cut at each byte: what stands in the segment in which it was found bad is passed over, too. */
static void bytes_of_a_bad_header(void **state) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET, .request = true, .sid = 0x30};
	uint8_t bytes[BENCH_FRAME_MAX] = {0};
	uint32_t header = (uint32_t)docsis_up_header_size(&h), size;
	uint64_t passed = 0;

	(void)state;
	setup();
	add_frame(FRAMED);
	go(FRAMED);
	for (uint32_t cut = 1; cut < header; cut++) {
		size = (uint32_t)bench_frame(bench, 2, &h, bytes + 1000, SIZE, bytes);
		bytes[header - 1] ^= 1; /* HCS */
		bench_segment(bench, FRAMED, 0, bytes, cut);
		bench_segment(bench, FRAMED, BENCH_NO_POINTER, bytes + cut, size - cut);
		bench_settle(bench);
		bench_expect(bench, DROP_FRAME_HCS, 1);
		passed += size - cut;
		assert_int_equal(bench_count(bench, COUNTER_RESYNC_BYTES), passed);
	}
	add_frame(FRAMED);
	go(FRAMED);
	bench_complete(bench, FRAMED);
	bench_close(bench);
}

/* Headers that are all of their frame: a pointer farther on contradicts them, if they are good. */
static void pointer_behind_a_header(void **state) {
	(void)state;
	setup();
	for (unsigned i = 0; i < 4; i++) {
		bool good = i % 2;
		uint8_t bytes[2 * FRAME] = {0};

		if (i < 2)
			docsis_request_write(5, 0x30, bytes);
		else
			docsis_concatenation_write(2, 500, bytes);
		bytes[4] ^= !good;
		bench_segment(bench, FRAMED, 0, bytes, 5);
		bench_mac(bench, FRAMED, SIZE, bytes + 15);
		bench_segment(bench, FRAMED, 10, bytes + 5, FRAME + 10);
		bench_settle(bench);
		bench_expect(bench, good ? DROP_FRAME_POINTER : DROP_FRAME_HCS, 1);
		bench_complete(bench, FRAMED);
	}
	bench_close(bench);
}

/* Three headers of every kind of frame, cut at every byte: over segments, and over pieces. */
static size_t stream_of_all_kinds(size_t *second) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_ISOLATION,
				     .privacy = PRIVACY_BP_UP,
				     .sid = 0x30,
				     .request = true};
	uint8_t bytes[BENCH_FRAME_MAX];

	used = 0;
	add_frame(FRAMED);
	*second = used;
	used += docsis_request_write(3, 0x30, room + used);
	used += docsis_queue_request_write(1000, 0x30, room + used);
	used += docsis_concatenation_write(2, 2 * FRAME, room + used);
	bench_ethernet(bench, FRAMED, bench->serial[FRAMED], 60, bytes + 100);
	bench->size[FRAMED][bench->serial[FRAMED]++] = 60;
	used += bench_frame(bench, 2, &h, bytes + 100, 60, room + used);
	/* one that is passed over, with a header of its own */
	add_raw((const uint8_t[]){0xd1, 9, 0, 30, 0xf8, 1, 2, 3, 4, 5, 6, 7, 8}, 13, 21);
	add_frame(FRAMED);
	return used;
}

/* Where the first frame begins at or behind `cut`. */
static int pointer_of(size_t cut, size_t end) {
	struct docsis_mac mac;

	for (size_t at = 0; at < end; at += mac.frame_size) {
		if (at >= cut)
			return (int)(at - cut);
		docsis_mac_parse(room + at, end - at, &mac);
		if (mac.kind == DOCSIS_KIND_CONCATENATION)
			mac.frame_size = mac.header_size;
	}
	return BENCH_NO_POINTER;
}

static void check_kinds(unsigned rounds) {
	bench_expect(bench, DROP_FRAME_RESERVED, 1);
	assert_int_equal(bench_count(bench, COUNTER_FRAMES), 7 * rounds);
	assert_int_equal(bench_count(bench, COUNTER_REQUEST_FRAMES), 2 * rounds);
	assert_int_equal(bench_count(bench, COUNTER_CONCATENATIONS), rounds);
	assert_int_equal(bench_count(bench, COUNTER_REQUESTS), 3 * rounds);
	assert_int_equal(bench_count(bench, COUNTER_RESYNC_BYTES), 0);
	bench_complete(bench, FRAMED);
}

static void cut_at_every_byte_over_segments(void **state) {
	unsigned rounds = 0;
	size_t second, end;

	(void)state;
	setup();
	end = stream_of_all_kinds(&second);
	for (size_t cut = 1; cut < end; cut++) {
		bench->serial[FRAMED] = 3 * rounds++;
		stream_of_all_kinds(&second);
		bench_segment(bench, FRAMED, 0, room, cut);
		bench_segment(bench, FRAMED, pointer_of(cut, end), room + cut, end - cut);
		bench_settle(bench);
		check_kinds(rounds);
	}
	bench_close(bench);
}

/* Segments of one byte each, over several frames. */
static void segments_of_a_byte(void **state) {
	size_t second, end;

	(void)state;
	setup();
	end = stream_of_all_kinds(&second);
	for (size_t at = 0; at < end; at++) {
		int pointer = pointer_of(at, end);

		bench_segment(bench, FRAMED, pointer == 0 ? 0 : BENCH_NO_POINTER, room + at, 1);
		bench_settle(bench);
	}
	check_kinds(1);
	bench_close(bench);
}

static void cut_at_every_byte_over_pieces(void **state) {
	uint8_t burst[4096];
	unsigned rounds = 0;
	size_t second, end;

	(void)state;
	setup();
	end = stream_of_all_kinds(&second);
	for (size_t cut = 1; cut < end; cut++) {
		struct segment_header h = {.pointer_valid = true, .sid_cluster = 5};
		struct bench_psp p;

		bench->serial[FRAMED] = 3 * rounds++;
		stream_of_all_kinds(&second);
		h.sequence = bench->segment[FRAMED]++;
		segment_header_write(&h, burst);
		memcpy(burst + SEGMENT_HEADER_SIZE, room, end);
		psp_open(&p, BENCH_SC_QAM);
		psp_add_header(bench, &p, 0x30);
		psp_add(&p, false, false, burst, SEGMENT_HEADER_SIZE + cut);
		if (cut % 2) { /* in another packet */
			psp_send(bench, &p);
			psp_open(&p, BENCH_SC_QAM);
		}
		psp_add(&p, false, false, burst + SEGMENT_HEADER_SIZE + cut, end - cut);
		psp_add_trailer(bench, &p);
		psp_send(bench, &p);
		bench_settle(bench);
		check_kinds(rounds);
	}
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_that_are_none),
		cmocka_unit_test(every_bit_of_a_header),
		cmocka_unit_test(pointer_behind_a_bad_header),
		cmocka_unit_test(bytes_of_a_bad_header),
		cmocka_unit_test(pointer_behind_a_header),
		cmocka_unit_test(cut_at_every_byte_over_segments),
		cmocka_unit_test(segments_of_a_byte),
		cmocka_unit_test(cut_at_every_byte_over_pieces),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
