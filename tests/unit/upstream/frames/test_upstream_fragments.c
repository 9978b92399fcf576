/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests fragments of pre-3.0 modems, and the frames of the units that are joined from them. */
#include <rte_ring_elem.h>

#include "upstream_cases.h"

#define AES 3 /* stream of modem 1, encrypted, without segment headers */
#define SIZE 120
#define MAC_SIZE (DOCSIS_MAC_HEADER + SIZE + 4)
#define FIRST FRAGMENT_FIRST
#define LAST FRAGMENT_LAST

static uint8_t unit[70000]; /* split into fragments */
static size_t unit_size;

/* Adds the stream's next packet to the unit, in the clear even if the modem has keys. */
static void add_frame(unsigned stream, size_t size) {
	unit_size += kit_next_clear_frame(stream, size, unit + unit_size);
}

static void unit_settle(void) {
	kit_settle();
}

/* Sends the unit in fragments of `part` bytes. Returns the number of fragments. */
static unsigned send_unit(unsigned stream, size_t part) {
	unsigned count = kit_send_unit(stream, unit, unit_size, part, unit_settle);

	unit_size = 0;
	return count;
}

static void reset_unit(void) {
	unit_size = 0;
}

static const unsigned streams[] = {PLAIN, AES};

BEFORE_EACH_CASE(reset_unit)

CASE(units_in_fragments_of_every_size) {
	uint64_t fragments = 0;

	for (size_t i = 0; i < ARRAY_COUNT(streams); i++) {
		for (size_t part = 3; part < 2 * MAC_SIZE + 10; part += part < 40 ? 1 : 17) {
			unit_size += docsis_concatenation_write(2, 2 * MAC_SIZE, unit);
			add_frame(streams[i], SIZE);
			add_frame(streams[i], SIZE);
			fragments += send_unit(streams[i], part);
			kit_check_complete(streams[i]);
			add_frame(streams[i], SIZE); /* without a concatenation header */
			fragments += send_unit(streams[i], part);
			kit_check_complete(streams[i]);
		}
	}
	assert_int_equal(kit_counter(COUNTER_FRAGMENTS), fragments);
	for (unsigned p = 0; p < PENDING_POOLS; p++)
		assert_int_equal(kit->u->pending_set.buffers[p], 0);
}

static void process_fragment(unsigned sequence, int flags, const uint8_t *bytes, size_t size) {
	kit_send_fragment(PLAIN, sequence, flags, bytes, size);
	kit_settle();
}

CASE(fragments_out_of_order_are_dropped) {
	static const uint8_t bytes[50];
	static const struct {
		uint8_t sequence;
		int flags;
		unsigned dropped;
	} cases[] = {
		{3, 0, 1}, /* no first fragment */
		{3, LAST, 1}, {3, FIRST, 0},  {4, 0, 0}, {6, 0, 3}, /* 5 is missing */
		{7, LAST, 1}, {15, FIRST, 0},
	};

	for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
		process_fragment(cases[i].sequence, cases[i].flags, bytes, sizeof(bytes));
		kit_check_dropped(DROP_FRAGMENT_ORDER, cases[i].dropped);
	}
	add_frame(PLAIN, SIZE);
	process_fragment(15, FIRST, unit, 50); /* a new first fragment drops the one before */
	kit_check_dropped(DROP_FRAGMENT_ORDER, 1);
	process_fragment(0, LAST, unit + 50, unit_size - 50);
}

static void without_crc_verification(void) {
	kit->sg.upstream.verify_crc = false; /* the CRC of a fragment is verified all the same */
}

CASE(fragment_with_bad_crc_is_dropped, .prepare = without_crc_verification) {
	uint8_t out[KIT_FRAME_MAX];

	for (size_t i = 0; i < ARRAY_COUNT(streams); i++) {
		size_t size = kit_write_fragment(streams[i], 0, FIRST, unit, 50, out);

		for (size_t at = 12; at < size; at++) {
			out[at] ^= 0x20;
			kit_process(streams[i], out, size);
			kit_check_dropped(DROP_FRAGMENT_CRC, 1);
			out[at] ^= 0x20;
		}
	}
}

CASE(unit_above_largest_size_is_dropped, .modem_pending_limit = 1000000) {
	for (size_t excess = 0; excess < 2; excess++) {
		uint32_t serial = kit->serial[PLAIN];
		unsigned count;

		while (unit_size + 2 * MAC_SIZE < DOCSIS_FRAME_MAX)
			add_frame(PLAIN, SIZE);
		memset(unit + unit_size, 0xff, MAC_SIZE * 2);
		unit_size = DOCSIS_FRAME_MAX + excess;
		count = send_unit(PLAIN, 1900);
		if (excess > 0) {
			kit_check_dropped(DROP_FRAGMENT_TOO_LONG, count);
			kit->serial[PLAIN] = serial;
		}
		kit_check_complete(PLAIN);
	}
}

CASE(incomplete_unit_times_out) {
	static const uint8_t bytes[50];

	process_fragment(0, FIRST, bytes, 50);
	kit_advance(60 * KIT_MS);
	process_fragment(1, 0, bytes, 50);
	kit_advance(40 * KIT_MS - 1);
	assert_int_equal(upstream_pending(kit->u, UNIT_FRAME), 2);
	kit_advance(1);
	kit_check_dropped(DROP_FRAME_TIMEOUT, 2);
}

/* A frame in a unit has a privacy element with encryption off. Its SID must be one of the flow. */
CASE(foreign_sid_in_unit_drops_frame) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET, .privacy = PRIVACY_BP_UP};
	uint8_t ethernet[SIZE] = {0};

	h.sid = kit_streams[AES].sid;
	unit_size = kit_write_frame(3, &h, ethernet, SIZE, unit);
	add_frame(PLAIN, SIZE);
	send_unit(PLAIN, 70);
	kit_check_dropped(DROP_PRIVACY_SID, 1);
}

CASE(request_in_unit_has_channel_of_last_fragment) {
	static const uint32_t sessions[2] = {KIT_SC_QAM, KIT_OFDMA_2};
	struct segment_header h = {.sid_cluster = 5, .pointer_valid = true};
	struct us_request request;
	uint8_t out[KIT_FRAME_MAX], whole[DOCSIS_MAC_HEADER];
	size_t half = docsis_request_write(1, kit_streams[SEGMENTED].sid, whole) / 2;

	for (int i = 0; i < 2; i++) {
		size_t size = kit_write_fragment(SEGMENTED, (uint8_t)i, i == 0 ? FIRST : LAST,
						 whole + i * half, half, out + SEGMENT_HEADER_SIZE);

		h.sequence = (uint16_t)i;
		segment_header_write(&h, out);
		kit_send_burst(sessions[i], kit_streams[SEGMENTED].sid, out,
			       SEGMENT_HEADER_SIZE + size);
		pipeline_run(upstream_pipeline(kit->u, 0));
		pipeline_run(upstream_pipeline(kit->u, 0));
	}
	assert_int_equal(rte_ring_sc_dequeue_elem(kit->u->requests.ring, &request, sizeof(request)),
			 0);
	assert_int_equal(request.channel, 2);
	assert_int_equal(request.modem, 2);
	assert_int_equal(request.kind, REQUEST_FRAME);
}

/* A frame in a unit must not be a fragment, nor encrypted, nor continue behind the unit. */
CASE(bad_frame_in_unit_is_dropped) {
	uint8_t out[50] = {0};

	unit_size = kit_write_fragment(PLAIN, 0, FIRST | LAST, out, 50, unit);
	add_frame(PLAIN, SIZE); /* extraction continues behind it */
	send_unit(PLAIN, 70);
	kit_check_dropped(DROP_FRAME_RESERVED, 1);
	unit_size = kit_next_frame(AES, SIZE, unit); /* encrypted twice */
	kit->serial[AES]--;
	add_frame(AES, SIZE);
	send_unit(AES, 70);
	kit_check_dropped(DROP_KEY_UNKNOWN, 1);
	add_frame(PLAIN, SIZE);
	add_frame(PLAIN, SIZE);
	kit->serial[PLAIN]--;
	unit_size -= 1;
	send_unit(PLAIN, 70);
	kit_check_dropped(DROP_FRAME_TRUNCATED, 1);
}

CASE(requests_and_messages_in_unit_are_extracted) {
	unit_size += docsis_request_write(9, 0x40, unit);
	unit_size +=
		kit_write_clear_frame(3, DOCSIS_KIND_MANAGEMENT, unit + 2000, 60, unit + unit_size);
	add_frame(PLAIN, SIZE);
	send_unit(PLAIN, 30);
	assert_int_equal(kit->messages, 1);
	assert_int_equal(kit_counter(COUNTER_REQUEST_FRAMES), 1);
	assert_int_equal(kit->u->requests.sink.by_modem[3][REQUEST_FRAME], 1);
}

/* Fragments are not allowed in flows with segment headers, but a modem can send them. They do not
 * affect an incomplete frame of the segments. */
CASE(unit_keeps_incomplete_frame) {
	uint8_t bytes[KIT_FRAME_MAX];
	size_t size;

	add_frame(SEGMENTED, SIZE);
	size = kit_write_fragment(SEGMENTED, 0, FIRST | LAST, unit, unit_size, bytes);
	kit_next_frame(SEGMENTED, SIZE, bytes + size);
	kit_process(SEGMENTED, bytes, size + 40);
	assert_int_equal(kit->received[SEGMENTED], 1);
	assert_int_equal(upstream_pending(kit->u, UNIT_FRAME), 1);
	kit_send_segment(SEGMENTED, MAC_SIZE - 40, bytes + size + 40, MAC_SIZE - 40);
	kit_settle();
	kit_check_complete(SEGMENTED);
	/* nor a stream that waits for a pointer */
	kit_process_tail(SEGMENTED, "something", 9);
	kit_check_dropped(DROP_SEGMENT_ORPHAN, 1);
}

/* A unit that ends in a frame does not affect the burst that is being extracted. */
CASE(truncated_unit_keeps_burst_in_progress, .prepare = kit_use_long_packets) {
	uint8_t burst[16384];
	size_t size;

	add_frame(PLAIN, SIZE);
	kit->serial[PLAIN]--;
	size = kit_write_fragment(PLAIN, 0, FIRST | LAST, unit, unit_size - 1, burst);
	/* more frames than a round extracts */
	size += kit_next_frames(PLAIN, KIT_FRAME_MIN, burst + size, 9000 - size);
	kit_process(PLAIN, burst, size);
	kit_check_dropped(DROP_FRAME_TRUNCATED, 1);
}

/* A round ends in the last frame of a unit, a byte too short. A frame and a unit are behind it. */
CASE(stop_drops_incomplete_frame_of_unit, .lossy = true) {
	const unsigned steps = 4 * PIPELINE_BURST; /* of a round; the first one takes the unit */
	uint8_t out[KIT_FRAME_MAX];
	size_t size;

	for (unsigned i = 1; i < steps - 1; i++)
		unit_size += docsis_request_write(1, kit_streams[PLAIN].sid, unit + unit_size);
	add_frame(PLAIN, SIZE);
	size = kit_write_fragment(PLAIN, 0, FIRST | LAST, unit, unit_size - 1, out);
	size += kit_next_frame(PLAIN, SIZE, out + size);
	size += kit_write_fragment(PLAIN, 0, FIRST | LAST, unit, DOCSIS_MAC_HEADER, out + size);
	kit_send_plain(PLAIN, out, size);
	while (kit->u->extract_joined.cursor.segment == NULL)
		kit_run_round();
	assert_int_equal(kit->u->streams.incomplete_frames, 1);
	assert_int_equal(kit->u->list.queues[US_JOINED].count, 2);
	kit_expect_drops(DROP_STOPPED, 2);
	upstream_stop(kit->u);
}
