/* SPDX-License-Identifier: BSD-3-Clause */
/* Fragments and concatenations of pre-3.0 modems. */
#include "test.h"

#include <string.h>

#include <rte_ring_elem.h>

#include "fixture.h"
#include "plain_aes.h"
#include "upstream_bench.h"
#include "wire/hcs.h"

#define PLAIN 6 /* stream in the clear, without segment headers */
#define AES 3 /* encrypted, without segment headers */
#define FRAMED 4 /* in the clear, with segment headers */
#define SIZE 120
#define FRAME (DOCSIS_MAC_HEADER + SIZE + 4)
#define FIRST 1
#define LAST 2

static struct upstream_bench storage, *const bench = &storage;
static uint8_t unit[70000]; /* what is cut into fragments */
static size_t unit_size;

static void unit_add(unsigned stream, size_t size) {
	unit_size += bench_mac(bench, stream, size, unit + unit_size);
}

/* A frame in the clear, as it stands in a unit, also of a modem with a key. */
static void unit_add_clear(unsigned stream, size_t size) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET};
	uint8_t ethernet[BENCH_FRAME_MAX];
	uint32_t serial = bench->serial[stream]++;

	bench->size[stream][serial] = (uint16_t)size;
	bench_ethernet(bench, stream, serial, size, ethernet);
	unit_size += bench_frame(bench, bench_streams[stream].modem, &h, ethernet, size,
				 unit + unit_size);
}

static size_t fragment(unsigned stream, uint8_t sequence, int flags, const uint8_t *bytes,
		       size_t size, uint8_t *out) {
	const struct security_association *sa =
		&bench->modems[bench_streams[stream].modem].security;
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_FRAGMENT,
		.privacy = PRIVACY_BP_UP,
		.encrypted = sa->cipher != CIPHER_NONE,
		.key_sequence = sa->key_sequence,
		.sid = bench_streams[stream].sid,
		.fragment_first = (flags & FIRST) != 0,
		.fragment_last = (flags & LAST) != 0,
		.fragment_sequence = sequence & 0xf,
	};

	return bench_frame(bench, bench_streams[stream].modem, &h, bytes, size, out);
}

/* Sends the fragment in a burst or segment of its own. */
static void send_fragment(unsigned stream, uint8_t sequence, int flags, const uint8_t *bytes,
			  size_t size) {
	uint8_t out[BENCH_FRAME_MAX];

	size = fragment(stream, sequence, flags, bytes, size, out);
	if (bench_streams[stream].segment_header)
		bench_segment(bench, stream, 0, out, size);
	else
		bench_plain(bench, stream, out, size);
	bench_settle(bench);
}

/* Sends the unit in fragments of `part` bytes. Returns how many they were. */
static unsigned send_unit(unsigned stream, size_t part) {
	static uint8_t sequence;
	unsigned count = 0;

	for (size_t at = 0; at < unit_size; at += part, count++) {
		size_t size = at + part < unit_size ? part : unit_size - at;

		send_fragment(stream, sequence++,
			      (at == 0 ? FIRST : 0) | (at + size == unit_size ? LAST : 0),
			      unit + at, size);
	}
	unit_size = 0;
	return count;
}

static void setup(void) {
	unit_size = 0;
	bench_open(bench);
}

static void dropped(enum drop_reason reason, uint64_t n) {
	bench_expect(bench, reason, n);
	assert_int_equal(bench->u->counters.drops[reason], bench->expected[reason]);
}

static void every_size_of_fragment(unsigned stream) {
	uint64_t fragments = 0;

	setup();
	for (size_t part = 3; part < 2 * FRAME + 10; part += part < 40 ? 1 : 17) {
		unit_size += docsis_concatenation_write(2, 2 * FRAME, unit);
		unit_add_clear(stream, SIZE);
		unit_add_clear(stream, SIZE);
		fragments += send_unit(stream, part);
		bench_complete(bench, stream);
		unit_add_clear(stream, SIZE); /* alone */
		fragments += send_unit(stream, part);
		bench_complete(bench, stream);
	}
	assert_int_equal(bench_count(bench, COUNTER_FRAGMENTS), fragments);
	for (unsigned p = 0; p < HOLD_POOLS; p++)
		assert_int_equal(bench->u->holds.buffers[p], 0);
	bench_close(bench);
}

static void every_size(void **state) {
	(void)state;
	every_size_of_fragment(PLAIN);
	every_size_of_fragment(AES);
}

static void order_of_fragments(void **state) {
	static const uint8_t bytes[50];

	(void)state;
	setup();
	send_fragment(PLAIN, 3, 0, bytes, 50); /* no first one */
	dropped(DROP_FRAGMENT_ORDER, 1);
	send_fragment(PLAIN, 3, LAST, bytes, 50);
	dropped(DROP_FRAGMENT_ORDER, 1);
	send_fragment(PLAIN, 3, FIRST, bytes, 50);
	send_fragment(PLAIN, 4, 0, bytes, 50);
	send_fragment(PLAIN, 6, 0, bytes, 50); /* 5 is missing: all of it */
	dropped(DROP_FRAGMENT_ORDER, 3);
	send_fragment(PLAIN, 7, LAST, bytes, 50);
	dropped(DROP_FRAGMENT_ORDER, 1);
	send_fragment(PLAIN, 15, FIRST, bytes, 50);
	unit_add_clear(PLAIN, SIZE);
	send_fragment(PLAIN, 15, FIRST, unit, 50); /* begins again */
	dropped(DROP_FRAGMENT_ORDER, 1);
	send_fragment(PLAIN, 0, LAST, unit + 50, unit_size - 50);
	bench_complete(bench, PLAIN);
	bench_close(bench);
}

static void crc_of_fragments(void **state) {
	static const unsigned streams[] = {PLAIN, AES};
	uint8_t out[BENCH_FRAME_MAX];

	(void)state;
	bench_prepare(bench);
	bench->sg.upstream.verify_crc = false; /* theirs is verified always */
	bench_start(bench);
	for (unsigned i = 0; i < ARRAY_COUNT(streams); i++) {
		size_t size = fragment(streams[i], 0, FIRST, unit, 50, out);

		for (size_t at = 12; at < size; at++) {
			out[at] ^= 0x20;
			bench_plain(bench, streams[i], out, size);
			bench_settle(bench);
			dropped(DROP_FRAGMENT_CRC, 1);
			out[at] ^= 0x20;
		}
	}
	bench_close(bench);
}

/* As long as a frame can be, and one byte more. */
static void longest_unit(void **state) {
	(void)state;
	for (size_t more = 0; more < 2; more++) {
		unsigned count;

		bench_prepare(bench);
		bench->sg.upstream.held_by_modem = 1000000;
		bench_start(bench);
		unit_size = 0;
		while (unit_size + 2 * FRAME < DOCSIS_FRAME_MAX)
			unit_add_clear(PLAIN, SIZE);
		memset(unit + unit_size, 0xff, FRAME * 2);
		unit_size = DOCSIS_FRAME_MAX + more;
		count = send_unit(PLAIN, 1900);
		if (more > 0) {
			dropped(DROP_FRAGMENT_TOO_LONG, count);
			assert_int_equal(bench->came[PLAIN], 0);
		} else {
			bench_complete(bench, PLAIN);
		}
		bench_close(bench);
	}
}

static void time_of_fragments(void **state) {
	static const uint8_t bytes[50];

	(void)state;
	setup();
	send_fragment(PLAIN, 0, FIRST, bytes, 50);
	bench_after(bench, 60 * BENCH_MS);
	send_fragment(PLAIN, 1, 0, bytes, 50);
	bench_after(bench, 40 * BENCH_MS - 1);
	assert_int_equal(upstream_held(bench->u, UNIT_FRAME), 2);
	bench_after(bench, 1);
	dropped(DROP_FRAME_TIMEOUT, 2);
	bench_close(bench);
}

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

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_size),
		cmocka_unit_test(order_of_fragments),
		cmocka_unit_test(crc_of_fragments),
		cmocka_unit_test(longest_unit),
		cmocka_unit_test(time_of_fragments),
		cmocka_unit_test(a_foreign_sid_in_a_unit),
		cmocka_unit_test(where_a_unit_asks),
		cmocka_unit_test(what_is_in_a_unit),
		cmocka_unit_test(side_exits_of_a_unit),
		cmocka_unit_test(order_behind_a_unit),
		cmocka_unit_test(beside_an_incomplete_frame),
		cmocka_unit_test(beside_a_long_burst),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
