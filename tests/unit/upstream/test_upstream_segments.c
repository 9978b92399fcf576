/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments of continuous concatenation and fragmentation: headers, clusters, and where frames begin in them. */
#include "upstream_cases.h"

#define SIZE 120 /* of the Ethernet frames */
#define FRAME (DOCSIS_MAC_HEADER + SIZE + 4)

static const uint8_t zeroes[64];

/* The next frame of the stream. */
static const uint8_t *frame(void) {
	static uint8_t bytes[BENCH_FRAME_MAX];

	assert_int_equal(bench_mac(FRAMED, SIZE, bytes), FRAME);
	return bytes;
}

static void segment(int pointer, const void *bytes, size_t size) {
	bench_segment(FRAMED, pointer, bytes, size);
	bench_settle();
}

static void whole(void) {
	segment(0, frame(), FRAME);
}

static void frame_is_lost(enum drop_reason reason) {
	bench_dropped(reason, 1);
	bench->came[FRAMED]++;
}

static void orphan(void) {
	bench_dropped(DROP_SEGMENT_ORPHAN, 1);
}

/* Cut off at every byte, and with every bit another one. */
CASE(headers_that_are_none) {
	struct segment_header h = {.pointer_valid = true, .sid_cluster = 5, .sequence = 1};
	uint8_t bytes[SEGMENT_HEADER_SIZE];

	segment_header_write(&h, bytes);
	for (size_t size = 1; size < SEGMENT_HEADER_SIZE; size++) {
		bench_plain(FRAMED, bytes, size);
		bench_expect(DROP_SEGMENT_TRUNCATED, 1);
	}
	for (unsigned bit = 0; bit < 8 * SEGMENT_HEADER_SIZE; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		bench_plain(FRAMED, bytes, sizeof(bytes));
		bench_expect(DROP_SEGMENT_HCS, 1);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	bench_settle();
	whole();
}

/* Of a segment that waits no buffer is kept that had nothing but the header. */
CASE(header_in_a_packet_of_its_own) {
	struct segment_header h = {.pointer_valid = true, .sid_cluster = 5, .sequence = 1};
	uint8_t bytes[SEGMENT_HEADER_SIZE];
	struct bench_psp p;

	whole();
	h.sequence = 2; /* ahead */
	segment_header_write(&h, bytes);
	bench_open_burst(&p, BENCH_SC_QAM, bench_streams[FRAMED].sid);
	psp_add(&p, false, false, bytes, sizeof(bytes));
	psp_send(&p);
	psp_open(&p, BENCH_SC_QAM);
	psp_add(&p, false, false, frame(), FRAME);
	psp_add_trailer(&p);
	bench_handle_packet(&p);
	assert_int_equal(upstream_pending(bench->u, UNIT_SEGMENT), 1);
	assert_int_equal(bench->u->pending_set.buffers[PENDING_POOL_PACKETS], 1);
	assert_int_equal(rte_mempool_in_use_count(bench->packets), 1);
	bench_after(10 * BENCH_MS);
}

CASE(clusters) {
	struct segment_header h = {.sequence = 1, .pointer_valid = true};
	uint8_t bytes[BENCH_FRAME_MAX];
	size_t size;

	whole();
	for (uint8_t cluster = 0; cluster < 8; cluster++) {
		h.sid_cluster = cluster;
		if (cluster == 5)
			continue;
		bench_segment_as(FRAMED, &h, zeroes, 1);
		bench_expect(DROP_SEGMENT_CLUSTER, 1);
	}
	/* The SID of one cluster with the header of another: the header says whose stream it is. */
	size = bench_mac(1, SIZE, bytes);
	h = (struct segment_header){.pointer_valid = true, .sid_cluster = 3, .sequence = 77};
	bench_segment_as(0, &h, bytes, size);
	size = bench_mac(0, SIZE, bytes);
	h = (struct segment_header){.pointer_valid = true, .sid_cluster = 0, .sequence = 12};
	bench_segment_as(0, &h, bytes, size);
	bench_settle();
}

/* A frame in progress ends when a new count begins: what comes then is none of it. */
CASE(a_new_count_ends_a_frame) {
	enum { LATE = 64 };

	bench->segment[FRAMED] = 3000;
	segment(0, frame(), FRAME / 2);
	bench->segment[FRAMED] = 0;
	for (unsigned i = 0; i < LATE; i++)
		segment(0, zeroes, 20);
	bench_dropped(DROP_SEGMENT_LATE, LATE);
	assert_int_equal(upstream_pending(bench->u, UNIT_FRAME), 1);
	whole();
	frame_is_lost(DROP_FRAME_GAP);
}

/* The stream begins at the first pointer. */
CASE(first_pointer) {
	uint8_t bytes[BENCH_FRAME_MAX] = {0};

	segment(BENCH_NO_POINTER, bytes, 30);
	orphan();
	memcpy(bytes + 30, frame(), FRAME);
	segment(30, bytes, 30 + FRAME);
	assert_int_equal(bench_count(COUNTER_RESYNC_BYTES), 30);
}

/* A pointer at the end of the segment names no byte of it; one more is too far. */
CASE(pointer_at_the_end) {
	segment(10, zeroes, 10);
	assert_int_equal(bench_count(COUNTER_RESYNC_BYTES), 10);
	segment(11, zeroes, 10);
	bench_expect(DROP_SEGMENT_POINTER, 1);
	segment(SEGMENT_POINTER_MAX, zeroes, 0);
	bench_expect(DROP_SEGMENT_POINTER, 1);
	/* both are missing now */
	whole();
	bench_after(10 * BENCH_MS);
	assert_int_equal(bench_count(COUNTER_SEGMENTS_MISSING), 2);
}

/*
 * A frame over two segments, and another one, where the pointer of the second segment says that it
 * begins: that is right behind the first frame or not.
 */
static void second_pointer(size_t cut, size_t pointer) {
	uint64_t passed = bench_count(COUNTER_RESYNC_BYTES);
	uint8_t bytes[3 * FRAME] = {0};

	memcpy(bytes, frame(), FRAME);
	segment(0, bytes, cut);
	memcpy(bytes + cut + pointer, frame(), FRAME);
	segment((int)pointer, bytes + cut, pointer + FRAME);
	if (pointer != FRAME - cut) {
		frame_is_lost(DROP_FRAME_POINTER);
		passed += pointer; /* all bytes before it, whatever they seemed to be */
	}
	assert_int_equal(bench_count(COUNTER_RESYNC_BYTES), passed);
}

CASE(pointers_behind_a_frame) {
	for (size_t cut = 1; cut < FRAME; cut++) {
		second_pointer(cut, FRAME - cut);
		second_pointer(cut, FRAME - cut - 1);
		second_pointer(cut, FRAME - cut + 1);
		second_pointer(cut, 0);
		second_pointer(cut, FRAME);
	}
	assert_int_equal(bench->expected[DROP_FRAME_POINTER], 4 * (FRAME - 1));
}

/* No byte of the segment belongs to the frame, which its pointer ends. */
CASE(pointer_of_an_empty_segment) {
	segment(0, frame(), 50);
	segment(0, zeroes, 0);
	frame_is_lost(DROP_FRAME_POINTER);
	whole();
	segment(0, frame(), 3); /* not even its header */
	segment(0, zeroes, 0);
	frame_is_lost(DROP_FRAME_POINTER);
	whole();
	segment(0, frame(), 50);
	bench->serial[FRAMED]--;
	segment(BENCH_NO_POINTER, zeroes, 0); /* this one says nothing */
	segment(BENCH_NO_POINTER, frame() + 50, FRAME - 50);
}

CASE(gaps) {
	const uint8_t *bytes;

	segment(0, frame(), 50);
	bench->segment[FRAMED]++;
	segment(BENCH_NO_POINTER, zeroes, 20);
	bench_after(10 * BENCH_MS);
	frame_is_lost(DROP_FRAME_GAP);
	orphan();
	segment(BENCH_NO_POINTER, zeroes, 20);
	orphan();
	whole();
	bench->segment[FRAMED] += 64;
	segment(BENCH_NO_POINTER, zeroes, 20);
	orphan();
	whole();
	bytes = frame();
	segment(0, bytes, 50); /* a gap is told once */
	segment(BENCH_NO_POINTER, bytes + 50, FRAME - 50);
	assert_int_equal(bench_count(COUNTER_RESYNC_BYTES), 0);
}

CASE(padding) {
	uint8_t bytes[BENCH_FRAME_MAX] = {0};

	memcpy(bytes, frame(), FRAME);
	segment(0, bytes, FRAME + 6);
	memcpy(bytes, frame(), FRAME);
	bytes[FRAME] = 0xff;
	bytes[FRAME + 1] = 1;
	segment(0, bytes, FRAME + 300);
	bytes[0] = 0xff;
	segment(0, bytes, 1);
	segment(BENCH_NO_POINTER, zeroes, 6); /* no frame begins here, and nothing has to */
	assert_int_equal(bench_count(COUNTER_PADDING_BYTES), 6 + 300 + 1 + 6);
	/* the end of a frame, then padding, without a pointer */
	memcpy(bytes, frame(), FRAME);
	segment(0, bytes, 100);
	memset(bytes + FRAME, 0, 7);
	segment(BENCH_NO_POINTER, bytes + 100, FRAME - 100 + 7);
	assert_int_equal(bench_count(COUNTER_PADDING_BYTES), 313 + 7);
}

/* Where only padding can follow, something else does. */
CASE(no_padding) {
	uint8_t bytes[BENCH_FRAME_MAX] = {0};

	whole();
	segment(BENCH_NO_POINTER, "something", 9);
	orphan();
	memcpy(bytes, frame(), FRAME);
	segment(0, bytes, 100);
	memcpy(bytes + FRAME, "something", 9);
	segment(BENCH_NO_POINTER, bytes + 100, FRAME - 100 + 9); /* it was of use */
	assert_int_equal(bench_count(COUNTER_RESYNC_BYTES), 9);
	segment(BENCH_NO_POINTER, zeroes, 20); /* the stream waits for a pointer */
	orphan();
	whole();
}
