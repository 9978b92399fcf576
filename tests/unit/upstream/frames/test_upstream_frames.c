/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the extraction of MAC frames from segments and bursts: sizes, timeouts, buffers,
 * management, ranging, and each reason to drop a frame for its header. */
#include "upstream_cases.h"
#include "wire/bytes.h"
#include "wire/hcs.h"

#define SIZE 120
#define MAC_SIZE (DOCSIS_MAC_HEADER + SIZE + 4)

static uint8_t payload[16384];
static size_t payload_size;

static void add_bytes(const void *bytes, size_t size) {
	assert_true(payload_size + size <= sizeof(payload));
	memcpy(payload + payload_size, bytes, size);
	payload_size += size;
}

/* Adds the next valid frame of the stream. */
static void add_frame(unsigned stream) {
	uint8_t bytes[KIT_FRAME_MAX];

	add_bytes(bytes, kit_next_frame(stream, SIZE, bytes));
}

/* Sends what was added, in one segment or burst. */
static void send_payload(unsigned stream) {
	kit_send(stream, payload, payload_size);
	payload_size = 0;
	kit_settle();
}

static void send_good_frame(unsigned stream) {
	add_frame(stream);
	send_payload(stream);
}

CASE(frame_truncated_by_burst_is_dropped) {
	for (size_t size = 1; size < MAC_SIZE; size++) {
		uint32_t first = kit->serial[PLAIN];

		add_frame(PLAIN);
		add_frame(PLAIN);
		payload_size = MAC_SIZE + size;
		send_payload(PLAIN);
		kit_expect_drops(DROP_FRAME_TRUNCATED, 1);
		kit->serial[PLAIN] = first + 1; /* the second one again, whole */
		send_good_frame(PLAIN);
	}
}

/* The timeout counts from the first byte, even if the header is incomplete. */
CASE(incomplete_frame_times_out) {
	uint8_t bytes[KIT_FRAME_MAX];

	for (size_t split = 3; split <= 60; split += 57) {
		uint32_t serial = kit->serial[SEGMENTED];

		kit_next_frame(SEGMENTED, SIZE, bytes);
		kit_process(SEGMENTED, bytes, split);
		kit_advance(60 * KIT_MS);
		kit_process_tail(SEGMENTED, bytes + split, 40);
		kit_advance(40 * KIT_MS - 1);
		assert_int_equal(upstream_pending(kit->u, UNIT_FRAME), 1);
		kit_advance(1);
		kit_expect_drops(DROP_FRAME_TIMEOUT, 1);
		assert_int_equal(upstream_pending(kit->u, UNIT_FRAME), 0);
		kit_process_tail(SEGMENTED, bytes + split + 40, MAC_SIZE - split - 40);
		kit_expect_drops(DROP_SEGMENT_ORPHAN, 1);
		kit->serial[SEGMENTED] = serial;
		send_good_frame(SEGMENTED);
		kit_check_complete(SEGMENTED);
	}
}

CASE(frame_without_buffer_is_dropped, .frame_buffers = 127, .piece_buffers = 127) {
	struct rte_mbuf *frames[127], *pieces[127];
	uint32_t first = kit->serial[SEGMENTED];

	assert_int_equal(rte_pktmbuf_alloc_bulk(kit->frames, frames, 127), 0);
	assert_int_equal(rte_pktmbuf_alloc_bulk(kit->pieces, pieces, 127), 0);
	for (size_t split = 0; split < 10; split += 3) { /* whole, then with parts of a header */
		add_frame(SEGMENTED);
		payload_size = split > 0 ? split : payload_size;
		send_payload(SEGMENTED);
		kit_expect_drops(DROP_FRAME_NO_BUFFER, 1);
	}
	rte_pktmbuf_free_bulk(frames, 127);
	rte_pktmbuf_free_bulk(pieces, 127);
	kit->serial[SEGMENTED] = first;
	send_good_frame(SEGMENTED); /* the body of the dropped frame is skipped */
}

/* Writes a management message of modem 2. Returns its size as a MAC frame. */
static size_t write_message(uint8_t *pdu, uint8_t *bytes) {
	for (unsigned i = 0; i < 60; i++)
		pdu[i] = (uint8_t)i;
	store_be16(pdu + 12, 46);
	return kit_write_clear_frame(2, DOCSIS_KIND_MANAGEMENT, pdu, 60, bytes);
}

CASE(management_messages_reach_control_port) {
	uint8_t bytes[KIT_FRAME_MAX], pdu[64];
	static const unsigned streams[] = {SEGMENTED, PLAIN, 0};

	for (unsigned i = 0; i < ARRAY_COUNT(streams); i++) {
		size_t size = write_message(pdu, bytes);

		add_bytes(bytes, size);
		bytes[20] ^= 4;
		add_bytes(bytes, size);
		kit_expect_drops(DROP_MANAGEMENT_CRC, 1);
		send_good_frame(streams[i]);
		assert_int_equal(kit->messages, i + 1);
		assert_int_equal(kit->message_size, 60);
		assert_memory_equal(kit->message, pdu, 60);
		kit_check_complete(streams[i]);
	}
	assert_int_equal(kit_counter(COUNTER_MANAGEMENT), kit->messages);
}

static void without_control_port(void) {
	kit->no_control = true;
}

CASE(ten_messages_to_control_port, .control_depth = 8) {
	bool none = kit->no_control;
	uint8_t bytes[KIT_FRAME_MAX], pdu[64];

	for (int i = 0; i < 10; i++)
		add_bytes(bytes, write_message(pdu, bytes));
	send_good_frame(SEGMENTED);
	assert_int_equal(kit->messages, none ? 0 : 7);
	kit_expect_drops(none ? DROP_NO_CONTROL_PORT : DROP_CONTROL_FULL, none ? 10 : 3);
}
CASE_WITH(without_control_port, ten_messages_to_control_port)

/* A ranging session carries messages of any SID, also one with segment headers. */
CASE(ranging_session_carries_only_management) {
	const struct docsis_up_header fragment = {.kind = DOCSIS_KIND_FRAGMENT,
						  .privacy = PRIVACY_BP_UP,
						  .fragment_first = true,
						  .fragment_last = true};
	uint8_t bytes[KIT_FRAME_MAX], pdu[64];
	size_t size = write_message(pdu, bytes);

	kit_send_burst(KIT_RANGING, 0x3ff0, bytes, size);
	kit_send_burst(KIT_RANGING, 0x12, bytes, size);
	kit_send_burst(KIT_RANGING, 0, bytes, size - 1);
	kit_expect_drops(DROP_FRAME_TRUNCATED, 1);
	kit_settle();
	assert_int_equal(kit->messages, 2);
	kit_send_burst(KIT_RANGING, 0x12, payload, kit_next_frame(SEGMENTED, SIZE, payload));
	kit->serial[SEGMENTED]--;
	memset(payload, 0xee, 100);
	size = docsis_up_header_write(&fragment, 60, payload);
	kit_send_burst(KIT_RANGING, 0x12, payload, size + 60);
	kit_expect_drops(DROP_NOT_RANGING, 2);
	kit_settle();
}

static uint32_t dropped_flow;

static void record_flow(struct tap *tap, struct rte_mbuf *m, unsigned reason) {
	(void)tap;
	assert_int_equal(reason, DROP_FRAME_TRUNCATED);
	dropped_flow = us_meta(m)->frame.flow;
}

CASE(dropped_frame_has_its_flow, .lossy = true) {
	struct tap tap = {.dropped = record_flow};
	uint8_t frame[KIT_FRAME_MAX];

	kit->u->counters.tap = &tap;
	kit_process(PLAIN, frame, kit_next_frame(PLAIN, 100, frame) - 10);
	kit->u->counters.tap = NULL;
	assert_int_equal(dropped_flow, kit_streams[PLAIN].flow);
	kit_expect_drops(DROP_FRAME_TRUNCATED, 1);
}

/* Adds a header with these first bytes, its HCS, and `pdu` bytes of 0xee. */
static void add_header(const uint8_t *header, size_t size, size_t pdu) {
	add_bytes(header, size);
	docsis_hcs_write(payload + payload_size - size, size);
	payload_size += DOCSIS_HCS_SIZE;
	memset(payload + payload_size, 0xee, pdu);
	payload_size += pdu;
}

/* Sends the header between valid frames and expects a drop. After DROP_FRAME_LENGTH the start of
 * the next frame is unknown: all bytes up to the next pointer or burst are skipped. */
static void check_dropped_header(const uint8_t *header, size_t size, size_t pdu,
				 enum drop_reason reason) {
	for (unsigned i = 0; i < 2; i++) {
		unsigned stream = i == 0 ? SEGMENTED : PLAIN;
		uint64_t skipped = kit_counter(COUNTER_RESYNC_BYTES);

		add_frame(stream);
		add_header(header, size, pdu);
		if (reason == DROP_FRAME_LENGTH) {
			send_payload(stream);
			assert_true(kit_counter(COUNTER_RESYNC_BYTES) >= skipped + pdu);
			if (stream == SEGMENTED) {
				kit_send_segment(stream, KIT_NO_POINTER, payload, 10);
				kit_expect_drops(DROP_SEGMENT_ORPHAN, 1);
			}
		}
		send_good_frame(stream);
		kit_check_dropped(reason, 1);
		kit_check_complete(stream);
	}
}

CASE(bad_mac_header_drops_frame, .prepare = kit_use_long_packets) {
	check_dropped_header((const uint8_t[]){0xd0, 0, 0, 30}, 4, 30, DROP_FRAME_RESERVED);
	check_dropped_header((const uint8_t[]){DOCSIS_FC_TIMING, 0, 0, 40}, 4, 40,
			     DROP_FRAME_RESERVED);
	check_dropped_header((const uint8_t[]){0x01, 2, 0, 42, 0x77, 0}, 6, 40, DROP_FRAME_EHDR);
	check_dropped_header((const uint8_t[]){0x01, 2, 0, 2, 0x77, 0}, 6, 0, DROP_FRAME_EHDR);
	check_dropped_header((const uint8_t[]){DOCSIS_FC_CONCATENATION | 1, 2, 0, 20}, 4, 20,
			     DROP_FRAME_EHDR);
	check_dropped_header((const uint8_t[]){0x01, 2, 0, 42, 0x61, 7}, 6, 40, DROP_FRAME_PHS);
	check_dropped_header((const uint8_t[]){0, 0, 0, 17}, 4, 17, DROP_FRAME_RUNT);
	check_dropped_header((const uint8_t[]){0, 0, 0, 1}, 4, 1, DROP_FRAME_RUNT);
	check_dropped_header((const uint8_t[]){0xc7, 6, 0, 10, 0x35, 1, 0, 0x40, 0, 0x30}, 10, 4,
			     DROP_FRAME_RUNT);
	check_dropped_header((const uint8_t[]){0, 0, 2001 >> 8, 2001 & 0xff}, 4, 2001,
			     DROP_FRAME_TOO_LONG);
	check_dropped_header((const uint8_t[]){DOCSIS_FC_MANAGEMENT, 0, 0x20, 0}, 4, 0x2000,
			     DROP_FRAME_TOO_LONG);
	check_dropped_header((const uint8_t[]){0x01, 4, 0, 3, 0, 0, 0, 0}, 8, 50,
			     DROP_FRAME_LENGTH);
}

/* After a bad HCS the start of the next frame is unknown: the rest of the segment is skipped, up to
 * the next pointer. With each bit flipped, and truncated at each byte. */
CASE(header_with_flipped_bit_is_dropped) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET, .request = true, .sid = 0x30};
	uint8_t bytes[KIT_FRAME_MAX] = {0};
	size_t header = docsis_up_header_size(&h), last = 8 * header - 1;

	for (size_t i = 0; i < last + header; i++) {
		size_t size = kit_write_frame(2, &h, bytes + 1000, SIZE, bytes);
		size_t bit = RTE_MIN(i, last), split = i - bit;
		uint64_t skipped = kit_counter(COUNTER_RESYNC_BYTES);

		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		if (bytes[1] > 4)
			size = 400; /* as a longer header */
		add_frame(SEGMENTED);
		add_bytes(bytes, split > 0 ? split : size);
		send_payload(SEGMENTED);
		if (split > 0)
			kit_process_tail(SEGMENTED, bytes + split, size - split);
		kit_check_dropped(DROP_FRAME_HCS, 1);
		assert_int_equal(kit_counter(COUNTER_RESYNC_BYTES), skipped + size - split);
	}
	send_good_frame(SEGMENTED);
	assert_int_equal(kit_counter(COUNTER_REQUESTS), 0);
}

/* A header without a body: a pointer farther on contradicts it if it is valid. All bytes before the
 * pointer are skipped. The request of a valid header counts. */
CASE(contradicting_pointer_drops_header) {
	static const enum drop_reason reasons[] = {DROP_FRAME_POINTER, DROP_FRAME_POINTER,
						   DROP_FRAME_RUNT};

	for (unsigned i = 0; i < 6; i++) {
		bool good = i % 2;
		uint8_t bytes[2 * MAC_SIZE] = {0};

		switch (i / 2) {
		case 0: docsis_request_write(5, 0x30, bytes); break;
		case 1: docsis_concatenation_write(2, 500, bytes); break;
		default: docsis_hcs_write(bytes, DOCSIS_MAC_HEADER - 2); /* a packet of 0 bytes */
		}
		bytes[4] ^= !good;
		kit_send(SEGMENTED, bytes, 5);
		kit_next_frame(SEGMENTED, SIZE, bytes + 15);
		kit_send_segment(SEGMENTED, 10, bytes + 5, MAC_SIZE + 10);
		kit_settle();
		kit_check_dropped(good ? reasons[i / 2] : DROP_FRAME_HCS, 1);
		assert_int_equal(kit_counter(COUNTER_RESYNC_BYTES), 10 * (i + 1));
		kit_check_complete(SEGMENTED);
	}
	assert_int_equal(kit_counter(COUNTER_REQUESTS), 1);
}
