/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests floods: thousands of requests of one modem, and fragments that are joined to thousands of
 * frames. Other modems lose nothing. */
#include "upstream_cases.h"
#include "wire/bytes.h"

#define PDU_MIN 14 /* bytes without CRC: an Ethernet header alone */
#define JOINED_LIMIT (US_TRANSMIT_CAPACITY / 2 + PIPELINE_BURST) /* frames behind a unit */

/* 40 kB of requests of one modem are in the R-PHY port, and one of another modem. */
CASE(request_flood_loses_no_request_of_another_modem) {
	const struct us_request_sink *sink;
	uint8_t bytes[1980], request[DOCSIS_MAC_HEADER];
	unsigned sent = 0; /* bytes */
	size_t size = 0;

	sink = &kit->u->requests.sink;
	while (size < sizeof(bytes))
		size += docsis_request_write(1, kit_streams[SEGMENTED].sid, bytes + size);
	kit_send_segment(SEGMENTED, 0, bytes, size);
	sent = (unsigned)size;
	while (kit->u->extract.cursor.segment == NULL)
		kit_run_round();
	/* nothing else is pending, and the next round goes on with the segment */
	assert_int_equal(kit->u->transmit.count + kit->u->r.crypto->pending, 0);
	assert_int_equal(rte_ring_count(kit->u->requests.ring), 0);
	assert_true(upstream_busy(kit->u));
	for (; sent < 20 * sizeof(bytes); sent += (unsigned)size)
		kit_send_segment(SEGMENTED, 0, bytes, size);
	kit_process(PLAIN, request, docsis_request_write(3, kit_streams[PLAIN].sid, request));
	assert_int_equal(sink->by_modem[3][REQUEST_FRAME], 1);
	assert_int_equal(sink->by_modem[2][REQUEST_FRAME], sent / DOCSIS_MAC_HEADER);
	assert_int_equal(kit_counter(COUNTER_REQUESTS_LOST), 0);
}

/* Writes the smallest frames, as many as fit, each with its number. Returns how many. */
static unsigned write_small_frames(uint8_t *unit, size_t capacity, size_t *size) {
	uint8_t pdu[PDU_MIN] = {2, 0, 0, 0, 0, 1, [12] = 0x88, [13] = 0xb5};
	unsigned n = 0;

	*size = 0;
	while (*size + DOCSIS_MAC_HEADER + PDU_MIN + 4 <= capacity) {
		store_be32(pdu + 6, n++);
		*size += kit_write_clear_frame(3, DOCSIS_KIND_PACKET, pdu, PDU_MIN, unit + *size);
	}
	return n;
}

/* Receives frames; the small ones must be in order. Returns how many frames. */
static unsigned receive_small_frames(void) {
	uint32_t before = kit->other_frames;
	unsigned n = 0;

	for (; kit_receive(1) > 0; n++) {
		if (kit->other_frames == before)
			continue;
		assert_int_equal(kit->other_size, KIT_FRAME_MIN); /* padded */
		assert_int_equal(load_be32(kit->other + 6), before);
		before = kit->other_frames;
	}
	return n;
}

/* Sends a packet of another modem. */
static void send_frame_of_other_modem(void) {
	kit_send_frame(SEGMENTED, 100);
}

/* One unit of 35 fragments has 2,730 frames. The upstream extracts them as fast as it can transmit
 * them. What follows the unit stays behind it. */
CASE(frames_of_large_unit_stay_in_order) {
	static uint8_t unit[DOCSIS_FRAME_MAX];
	unsigned frames, fragments;
	uint32_t max_joined = 0;
	size_t size;

	frames = write_small_frames(unit, sizeof(unit), &size);
	assert_true(frames > 2600);
	fragments = kit_send_unit(PLAIN, unit, size, 1900, send_frame_of_other_modem);
	kit_send_frame(PLAIN, 200);
	for (int i = 0; i < 60; i++)
		kit_send_frames(SEGMENTED, 14, 100);
	while (kit->received[PLAIN] == 0) {
		kit_run_round();
		assert_in_range(kit->u->list.queues[US_JOINED].count, 0, JOINED_LIMIT);
		assert_in_range(rte_mempool_in_use_count(kit->frames), 0,
				2 * fragments + kit->u->list.queues[US_JOINED].count + 300);
		max_joined = RTE_MAX(max_joined, kit->u->list.queues[US_JOINED].count);
		assert_in_range(receive_small_frames(), 0, 2 * PIPELINE_BURST); /* in one round */
		assert_true(kit->received[PLAIN] == 0 || kit->other_frames == frames);
	}
	kit_settle();
	assert_true(max_joined >= JOINED_LIMIT / 2);
	assert_int_equal(kit->other_frames, frames);
	assert_int_equal(kit_counter(COUNTER_FRAGMENTS), fragments);
}
