/* SPDX-License-Identifier: BSD-3-Clause */
/* MAC frames out of segments and bursts: each reason to drop one, headers in pieces, management. */
#include "test.h"

#include <string.h>

#include "wire/bytes.h"
#include "wire/crc32.h"
#include "wire/hcs.h"
#include "wire/ip.h"

#include "fixture.h"
#include "upstream_bench.h"

#define FRAMED 4 /* stream with segment headers, in the clear */
#define PLAIN 6 /* without */
#define SIZE 120
#define FRAME (DOCSIS_MAC_HEADER + SIZE + 4)

static struct upstream_bench storage, *const bench = &storage;
static uint8_t room[16384];
static size_t used;

static void setup(void) {
	used = 0;
	bench_open(bench);
}

static void add(const void *bytes, size_t size) {
	assert_true(used + size <= sizeof(room));
	memcpy(room + used, bytes, size);
	used += size;
}

/* The next good frame of the stream. */
static void add_frame(unsigned stream) {
	uint8_t bytes[BENCH_FRAME_MAX];

	add(bytes, bench_mac(bench, stream, SIZE, bytes));
}

/* A header with these first bytes, its HCS, and `pdu` bytes of 0xEE. */
static void add_raw(const uint8_t *header, size_t size, size_t pdu) {
	add(header, size);
	docsis_hcs_write(room + used - size, size);
	used += DOCSIS_HCS_SIZE;
	memset(room + used, 0xee, pdu);
	used += pdu;
}

static void go(unsigned stream) {
	if (bench_streams[stream].segment_header)
		bench_segment(bench, stream, 0, room, used);
	else
		bench_plain(bench, stream, room, used);
	used = 0;
	bench_settle(bench);
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

/* Headers that are all of their frame: a pointer farther on contradicts them, if they are good. */
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
	used += docsis_queue_request_write(300, 0x30, room + used);
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
	struct rte_mbuf *taken[4095];
	uint32_t first;

	(void)state;
	bench_prepare(bench);
	bench->frame_buffers = 127;
	bench_start(bench);
	assert_int_equal(rte_pktmbuf_alloc_bulk(bench->frames, taken, 127), 0);
	first = bench->serial[FRAMED];
	for (size_t cut = 0; cut < 10; cut += 3) { /* whole, and a header in pieces */
		add_frame(FRAMED);
		used = cut > 0 ? cut : used;
		go(FRAMED);
		bench_expect(bench, DROP_FRAME_NO_BUFFER, 1);
	}
	rte_pktmbuf_free_bulk(taken, 127);
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

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers_that_are_none),
		cmocka_unit_test(every_bit_of_a_header),
		cmocka_unit_test(pointer_behind_a_bad_header),
		cmocka_unit_test(bytes_of_a_bad_header),
		cmocka_unit_test(pointer_behind_a_header),
		cmocka_unit_test(smallest_and_largest),
		cmocka_unit_test(cut_at_every_byte_over_segments),
		cmocka_unit_test(segments_of_a_byte),
		cmocka_unit_test(cut_at_every_byte_over_pieces),
		cmocka_unit_test(burst_ends_in_a_frame),
		cmocka_unit_test(time_of_a_frame),
		cmocka_unit_test(no_buffer_for_a_frame),
		cmocka_unit_test(management),
		cmocka_unit_test(control_port_full_or_none),
		cmocka_unit_test(ranging),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
