/* SPDX-License-Identifier: BSD-3-Clause */
/* Where frames begin in segments: pointers, gaps and padding. */
#include "test.h"

#include <string.h>

#include "fixture.h"
#include "upstream_segments.h"
#include "wire/hcs.h"

/* The stream begins at the first pointer. */
static void first_pointer(void **state) {
	uint8_t bytes[BENCH_FRAME_MAX] = {0};

	(void)state;
	bench_open(bench);
	segment(BENCH_NO_POINTER, bytes, 30);
	orphan();
	memcpy(bytes + 30, frame(), FRAME);
	segment(30, bytes, 30 + FRAME);
	assert_int_equal(bench_count(bench, COUNTER_RESYNC_BYTES), 30);
	finish();
}

/* A pointer at the end of the segment names no byte of it; one more is too far. */
static void pointer_at_the_end(void **state) {
	(void)state;
	bench_open(bench);
	segment(10, zeroes, 10);
	assert_int_equal(bench_count(bench, COUNTER_RESYNC_BYTES), 10);
	segment(11, zeroes, 10);
	bench_expect(bench, DROP_SEGMENT_POINTER, 1);
	segment(SEGMENT_POINTER_MAX, zeroes, 0);
	bench_expect(bench, DROP_SEGMENT_POINTER, 1);
	/* both are missing now */
	whole();
	bench_after(bench, 10 * BENCH_MS);
	assert_int_equal(bench_count(bench, COUNTER_SEGMENTS_MISSING), 2);
	finish();
}

/*
 * A frame over two segments, and another one, where the pointer of the second segment says that it
 * begins: that is right behind the first frame or not.
 */
static void second_pointer(size_t cut, size_t pointer) {
	uint64_t passed = bench_count(bench, COUNTER_RESYNC_BYTES);
	uint8_t bytes[3 * FRAME] = {0};

	memcpy(bytes, frame(), FRAME);
	segment(0, bytes, cut);
	memcpy(bytes + cut + pointer, frame(), FRAME);
	segment((int)pointer, bytes + cut, pointer + FRAME);
	if (pointer != FRAME - cut) {
		frame_is_lost(DROP_FRAME_POINTER);
		passed += pointer; /* all bytes before it, whatever they seemed to be */
	}
	assert_int_equal(bench_count(bench, COUNTER_RESYNC_BYTES), passed);
}

static void pointers_behind_a_frame(void **state) {
	(void)state;
	bench_open(bench);
	for (size_t cut = 1; cut < FRAME; cut++) {
		second_pointer(cut, FRAME - cut);
		second_pointer(cut, FRAME - cut - 1);
		second_pointer(cut, FRAME - cut + 1);
		second_pointer(cut, 0);
		second_pointer(cut, FRAME);
	}
	assert_int_equal(bench->expected[DROP_FRAME_POINTER], 4 * (FRAME - 1));
	finish();
}

/* No byte of the segment belongs to the frame, which its pointer ends. */
static void pointer_of_an_empty_segment(void **state) {
	(void)state;
	bench_open(bench);
	segment(0, frame(), 50);
	segment(0, zeroes, 0);
	frame_is_lost(DROP_FRAME_POINTER);
	whole();
	segment(0, frame(), 3); /* not even its header */
	segment(0, zeroes, 0);
	frame_is_lost(DROP_FRAME_POINTER);
	whole();
	segment(0, frame(), 50);
	bench->serial[STREAM]--;
	segment(BENCH_NO_POINTER, zeroes, 0); /* this one says nothing */
	segment(BENCH_NO_POINTER, frame() + 50, FRAME - 50);
	finish();
}

static void gaps(void **state) {
	(void)state;
	bench_open(bench);
	segment(0, frame(), 50);
	bench->segment[STREAM]++;
	segment(BENCH_NO_POINTER, zeroes, 20);
	bench_after(bench, 10 * BENCH_MS);
	frame_is_lost(DROP_FRAME_GAP);
	orphan();
	segment(BENCH_NO_POINTER, zeroes, 20);
	orphan();
	whole();
	bench->segment[STREAM] += 64;
	segment(BENCH_NO_POINTER, zeroes, 20);
	orphan();
	whole();
	assert_int_equal(bench_count(bench, COUNTER_RESYNC_BYTES), 0);
	finish();
}

static void padding(void **state) {
	uint8_t bytes[BENCH_FRAME_MAX] = {0};

	(void)state;
	bench_open(bench);
	memcpy(bytes, frame(), FRAME);
	segment(0, bytes, FRAME + 6);
	memcpy(bytes, frame(), FRAME);
	bytes[FRAME] = 0xff;
	bytes[FRAME + 1] = 1;
	segment(0, bytes, FRAME + 300);
	bytes[0] = 0xff;
	segment(0, bytes, 1);
	segment(BENCH_NO_POINTER, zeroes, 6); /* no frame begins here, and nothing has to */
	assert_int_equal(bench_count(bench, COUNTER_PADDING_BYTES), 6 + 300 + 1 + 6);
	/* the end of a frame, then padding, without a pointer */
	memcpy(bytes, frame(), FRAME);
	segment(0, bytes, 100);
	memset(bytes + FRAME, 0, 7);
	segment(BENCH_NO_POINTER, bytes + 100, FRAME - 100 + 7);
	assert_int_equal(bench_count(bench, COUNTER_PADDING_BYTES), 313 + 7);
	finish();
}

/* Where only padding can follow, something else does. */
static void no_padding(void **state) {
	uint8_t bytes[BENCH_FRAME_MAX] = {0};

	(void)state;
	bench_open(bench);
	whole();
	segment(BENCH_NO_POINTER, "something", 9);
	orphan();
	memcpy(bytes, frame(), FRAME);
	segment(0, bytes, 100);
	memcpy(bytes + FRAME, "something", 9);
	segment(BENCH_NO_POINTER, bytes + 100, FRAME - 100 + 9); /* it was of use */
	assert_int_equal(bench_count(bench, COUNTER_RESYNC_BYTES), 9);
	segment(BENCH_NO_POINTER, zeroes, 20); /* the stream waits for a pointer */
	orphan();
	whole();
	finish();
}

/* Frames that end with their headers, of which the second halves come in segments that say that a frame
 * begins elsewhere: all bytes before the pointer are passed over. */
static void pointers_behind_a_header(void **state) {
	uint8_t runt[DOCSIS_MAC_HEADER] = {0}, request[DOCSIS_MAC_HEADER];
	uint8_t bytes[10 + FRAME] = {0};
	size_t half = DOCSIS_MAC_HEADER / 2;

	(void)state;
	bench_open(bench);
	whole();
	docsis_hcs_write(runt, DOCSIS_MAC_HEADER - 2); /* a packet of no bytes */
	segment(0, runt, half);
	memcpy(bytes, runt + half, half);
	memcpy(bytes + 10, frame(), FRAME);
	segment(10, bytes, sizeof(bytes));
	dropped(DROP_FRAME_RUNT);
	assert_int_equal(bench_count(bench, COUNTER_RESYNC_BYTES), 10);
	/* what it asks for is taken: the header is good */
	docsis_request_write(3, bench_streams[STREAM].sid, request);
	segment(0, request, half);
	memcpy(bytes, request + half, half);
	memcpy(bytes + 10, frame(), FRAME);
	segment(10, bytes, sizeof(bytes));
	dropped(DROP_FRAME_POINTER);
	assert_int_equal(bench_count(bench, COUNTER_REQUESTS), 1);
	assert_int_equal(bench_count(bench, COUNTER_RESYNC_BYTES), 10 + 10);
	finish();
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(first_pointer),
		cmocka_unit_test(pointer_at_the_end),
		cmocka_unit_test(pointers_behind_a_frame),
		cmocka_unit_test(pointer_of_an_empty_segment),
		cmocka_unit_test(gaps),
		cmocka_unit_test(padding),
		cmocka_unit_test(no_padding),
		cmocka_unit_test(pointers_behind_a_header),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
