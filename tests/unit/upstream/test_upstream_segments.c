/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests segments (continuous concatenation and fragmentation): headers, SID clusters, pointers. */
#include "upstream_cases.h"

#define SIZE 120 /* bytes of the Ethernet frames */
#define MAC_SIZE (DOCSIS_MAC_HEADER + SIZE + 4) /* bytes of the MAC frames */

static const uint8_t zeroes[64];

/* Writes the next frame of the stream. */
static const uint8_t *next_frame(void) {
	static uint8_t bytes[KIT_FRAME_MAX];

	assert_int_equal(kit_next_frame(SEGMENTED, SIZE, bytes), MAC_SIZE);
	return bytes;
}

static void process_segment(int pointer, const void *bytes, size_t size) {
	kit_send_segment(SEGMENTED, pointer, bytes, size);
	kit_settle();
}

static void process_whole(void) {
	process_segment(0, next_frame(), MAC_SIZE);
}

static void check_frame_dropped(enum drop_reason reason) {
	kit_check_dropped(reason, 1);
	kit->received[SEGMENTED]++;
}

static void check_orphan_dropped(void) {
	kit_check_dropped(DROP_SEGMENT_ORPHAN, 1);
}

/* Truncated at each byte, and with each bit flipped. */
CASE(bad_segment_header_is_dropped) {
	struct segment_header h = {.pointer_valid = true, .sid_cluster = 5, .sequence = 1};
	uint8_t bytes[SEGMENT_HEADER_SIZE];

	segment_header_write(&h, bytes);
	for (size_t size = 1; size < SEGMENT_HEADER_SIZE; size++) {
		kit_send_plain(SEGMENTED, bytes, size);
		kit_expect_drops(DROP_SEGMENT_TRUNCATED, 1);
	}
	for (unsigned bit = 0; bit < 8 * SEGMENT_HEADER_SIZE; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		kit_send_plain(SEGMENTED, bytes, sizeof(bytes));
		kit_expect_drops(DROP_SEGMENT_HCS, 1);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	kit_settle();
	process_whole();
}

/* A pending segment does not keep the buffer that had nothing but its header. */
CASE(pending_segment_frees_buffer_of_header) {
	struct segment_header h = {.pointer_valid = true, .sid_cluster = 5, .sequence = 1};
	uint8_t bytes[SEGMENT_HEADER_SIZE];
	struct psp_packet p;

	process_whole();
	h.sequence = 2; /* ahead */
	segment_header_write(&h, bytes);
	kit_begin_burst(&p, KIT_SC_QAM, kit_streams[SEGMENTED].sid);
	psp_add_segment(&p, false, false, bytes, sizeof(bytes));
	psp_send(&p);
	psp_begin(&p, KIT_SC_QAM);
	psp_add_segment(&p, false, false, next_frame(), MAC_SIZE);
	psp_add_trailer(&p);
	kit_process_packet(&p);
	assert_int_equal(upstream_pending(kit->u, UNIT_SEGMENT), 1);
	assert_int_equal(kit->u->pending_set.buffers[PENDING_POOL_PACKETS], 1);
	assert_int_equal(rte_mempool_in_use_count(kit->packets), 1);
	kit_advance(10 * KIT_MS);
}

CASE(unknown_cluster_is_dropped) {
	struct segment_header h = {.sequence = 1, .pointer_valid = true};
	uint8_t bytes[KIT_FRAME_MAX];
	size_t size;

	process_whole();
	for (uint8_t cluster = 0; cluster < 8; cluster++) {
		h.sid_cluster = cluster;
		if (cluster == 5)
			continue;
		kit_send_segment_as(SEGMENTED, &h, zeroes, 1);
		kit_expect_drops(DROP_SEGMENT_CLUSTER, 1);
	}
	/* The SID of one cluster with the header of another: the header selects the stream. */
	size = kit_next_frame(1, SIZE, bytes);
	h = (struct segment_header){.pointer_valid = true, .sid_cluster = 3, .sequence = 77};
	kit_send_segment_as(0, &h, bytes, size);
	size = kit_next_frame(0, SIZE, bytes);
	h = (struct segment_header){.pointer_valid = true, .sid_cluster = 0, .sequence = 12};
	kit_send_segment_as(0, &h, bytes, size);
	kit_settle();
}

/* A restart of the segment numbering drops the incomplete frame. */
CASE(numbering_restart_drops_incomplete_frame) {
	enum { LATE = 64 };

	kit->segment[SEGMENTED] = 3000;
	process_segment(0, next_frame(), MAC_SIZE / 2);
	kit->segment[SEGMENTED] = 0;
	for (unsigned i = 0; i < LATE; i++)
		process_segment(0, zeroes, 20);
	kit_check_dropped(DROP_SEGMENT_LATE, LATE);
	assert_int_equal(upstream_pending(kit->u, UNIT_FRAME), 1);
	process_whole();
	check_frame_dropped(DROP_FRAME_GAP);
}

/* Extraction starts at the first pointer. */
CASE(stream_starts_at_first_pointer) {
	uint8_t bytes[KIT_FRAME_MAX] = {0};

	process_segment(KIT_NO_POINTER, bytes, 30);
	check_orphan_dropped();
	memcpy(bytes + 30, next_frame(), MAC_SIZE);
	process_segment(30, bytes, 30 + MAC_SIZE);
	assert_int_equal(kit_counter(COUNTER_RESYNC_BYTES), 30);
}

/* A pointer may name the end of the segment, where no byte is, but not beyond it. */
CASE(pointer_beyond_segment_is_dropped) {
	process_segment(10, zeroes, 10);
	assert_int_equal(kit_counter(COUNTER_RESYNC_BYTES), 10);
	process_segment(11, zeroes, 10);
	kit_expect_drops(DROP_SEGMENT_POINTER, 1);
	process_segment(SEGMENT_POINTER_MAX, zeroes, 0);
	kit_expect_drops(DROP_SEGMENT_POINTER, 1);
	/* the numbers of both are missing now */
	process_whole();
	kit_advance(10 * KIT_MS);
	assert_int_equal(kit_counter(COUNTER_SEGMENTS_MISSING), 2);
}

/* Sends a frame in two segments. The second one also has another frame, to which its pointer
 * points: directly behind the first frame or elsewhere. */
static void send_two_frames(size_t split, size_t pointer) {
	uint64_t skipped = kit_counter(COUNTER_RESYNC_BYTES);
	uint8_t bytes[3 * MAC_SIZE] = {0};

	memcpy(bytes, next_frame(), MAC_SIZE);
	process_segment(0, bytes, split);
	memcpy(bytes + split + pointer, next_frame(), MAC_SIZE);
	process_segment((int)pointer, bytes + split, pointer + MAC_SIZE);
	if (pointer != MAC_SIZE - split) {
		check_frame_dropped(DROP_FRAME_POINTER);
		skipped += pointer; /* all bytes before the pointer are skipped */
	}
	assert_int_equal(kit_counter(COUNTER_RESYNC_BYTES), skipped);
}

CASE(contradicting_pointer_drops_frame) {
	for (size_t split = 1; split < MAC_SIZE; split++) {
		send_two_frames(split, MAC_SIZE - split);
		send_two_frames(split, MAC_SIZE - split - 1);
		send_two_frames(split, MAC_SIZE - split + 1);
		send_two_frames(split, 0);
		send_two_frames(split, MAC_SIZE);
	}
	assert_int_equal(kit->expected[DROP_FRAME_POINTER], 4 * (MAC_SIZE - 1));
}

/* An empty segment has no byte of the frame, so its pointer ends the frame. */
CASE(pointer_in_empty_segment_ends_frame) {
	process_segment(0, next_frame(), 50);
	process_segment(0, zeroes, 0);
	check_frame_dropped(DROP_FRAME_POINTER);
	process_whole();
	process_segment(0, next_frame(), 3); /* less than its header */
	process_segment(0, zeroes, 0);
	check_frame_dropped(DROP_FRAME_POINTER);
	process_whole();
	process_segment(0, next_frame(), 50);
	kit->serial[SEGMENTED]--;
	process_segment(KIT_NO_POINTER, zeroes, 0); /* without a pointer it changes nothing */
	process_segment(KIT_NO_POINTER, next_frame() + 50, MAC_SIZE - 50);
}

CASE(gap_drops_incomplete_frame) {
	const uint8_t *bytes;

	process_segment(0, next_frame(), 50);
	kit->segment[SEGMENTED]++;
	process_segment(KIT_NO_POINTER, zeroes, 20);
	kit_advance(10 * KIT_MS);
	check_frame_dropped(DROP_FRAME_GAP);
	check_orphan_dropped();
	process_segment(KIT_NO_POINTER, zeroes, 20);
	check_orphan_dropped();
	process_whole();
	kit->segment[SEGMENTED] += 64;
	process_segment(KIT_NO_POINTER, zeroes, 20);
	check_orphan_dropped();
	process_whole();
	bytes = next_frame();
	process_segment(0, bytes, 50); /* the gap is over */
	process_segment(KIT_NO_POINTER, bytes + 50, MAC_SIZE - 50);
	assert_int_equal(kit_counter(COUNTER_RESYNC_BYTES), 0);
}

CASE(padding_is_skipped) {
	uint8_t bytes[KIT_FRAME_MAX] = {0};

	memcpy(bytes, next_frame(), MAC_SIZE);
	process_segment(0, bytes, MAC_SIZE + 6);
	memcpy(bytes, next_frame(), MAC_SIZE);
	bytes[MAC_SIZE] = 0xff;
	bytes[MAC_SIZE + 1] = 1;
	process_segment(0, bytes, MAC_SIZE + 300);
	bytes[0] = 0xff;
	process_segment(0, bytes, 1);
	process_segment(KIT_NO_POINTER, zeroes, 6); /* padding without a frame needs no pointer */
	assert_int_equal(kit_counter(COUNTER_PADDING_BYTES), 6 + 300 + 1 + 6);
	/* the end of a frame, then padding, without a pointer */
	memcpy(bytes, next_frame(), MAC_SIZE);
	process_segment(0, bytes, 100);
	memset(bytes + MAC_SIZE, 0, 7);
	process_segment(KIT_NO_POINTER, bytes + 100, MAC_SIZE - 100 + 7);
	assert_int_equal(kit_counter(COUNTER_PADDING_BYTES), 313 + 7);
}

/* Bytes that are not padding, where no frame is in progress and no pointer points. */
CASE(bytes_without_pointer_are_skipped) {
	uint8_t bytes[KIT_FRAME_MAX] = {0};

	process_whole();
	process_segment(KIT_NO_POINTER, "something", 9);
	check_orphan_dropped();
	memcpy(bytes, next_frame(), MAC_SIZE);
	process_segment(0, bytes, 100);
	memcpy(bytes + MAC_SIZE, "something", 9);
	process_segment(KIT_NO_POINTER, bytes + 100,
			MAC_SIZE - 100 + 9); /* it had the end of a frame */
	assert_int_equal(kit_counter(COUNTER_RESYNC_BYTES), 9);
	process_segment(KIT_NO_POINTER, zeroes, 20); /* the stream waits for a pointer */
	check_orphan_dropped();
	process_whole();
}
