/* SPDX-License-Identifier: BSD-3-Clause */
/* Much at once, and nobody loses by it: requests of one modem, and fragments that become thousands of frames. */
#include "upstream_cases.h"
#include "wire/bytes.h"

#define PDU_MIN 14 /* without CRC: no more than an Ethernet header */
#define BEHIND (US_TRANSMIT_CAPACITY / 2 + PIPELINE_BURST) /* the most behind a unit */

/* A modem's frames behind each other: 40 kB of nothing but requests, at the port at once. */
CASE(requests_of_one_modem) {
	const struct us_request_sink *sink;
	uint8_t bytes[1980], one[DOCSIS_MAC_HEADER];
	unsigned sent = 0;
	size_t size = 0;

	sink = &bench->u->requests.sink;
	while (size < sizeof(bytes))
		size += docsis_request_write(1, bench_streams[FRAMED].sid, bytes + size);
	bench_segment(FRAMED, 0, bytes, size);
	sent = (unsigned)size;
	while (bench->u->extract.cursor.segment == NULL)
		bench_round();
	/* nothing else is under way, and the next round goes on with it */
	assert_int_equal(bench->u->transmit.count + bench->u->r.crypto->pending, 0);
	assert_int_equal(rte_ring_count(bench->u->requests.ring), 0);
	assert_true(upstream_busy(bench->u));
	for (; sent < 20 * sizeof(bytes); sent += (unsigned)size)
		bench_segment(FRAMED, 0, bytes, size);
	bench_handle(PLAIN, one, docsis_request_write(3, bench_streams[PLAIN].sid, one));
	assert_int_equal(sink->by_modem[3][REQUEST_FRAME], 1);
	assert_int_equal(sink->by_modem[2][REQUEST_FRAME], sent / DOCSIS_MAC_HEADER);
	assert_int_equal(bench_count(COUNTER_REQUESTS_LOST), 0);
}

/* The smallest frames, each with its number. Returns how many they are. */
static unsigned small_frames(uint8_t *unit, size_t room, size_t *size) {
	uint8_t pdu[PDU_MIN] = {2, 0, 0, 0, 0, 1, [12] = 0x88, [13] = 0xb5};
	unsigned n = 0;

	*size = 0;
	while (*size + DOCSIS_MAC_HEADER + PDU_MIN + 4 <= room) {
		store_be32(pdu + 6, n++);
		*size += bench_clear(3, DOCSIS_KIND_PACKET, pdu, PDU_MIN, unit + *size);
	}
	return n;
}

/* Takes what came out: of the small frames the next one. Returns how many frames there were. */
static unsigned small_frames_take(void) {
	uint32_t before = bench->others;
	unsigned n = 0;

	for (; bench_take(1) > 0; n++) {
		if (bench->others == before)
			continue;
		assert_int_equal(bench->other_size, BENCH_SMALLEST); /* padded */
		assert_int_equal(load_be32(bench->other + 6), before);
		before = bench->others;
	}
	return n;
}

/* A packet of another modem. */
static void send_packet(void) {
	bench_put(FRAMED, 100);
}

/*
 * One unit of 35 fragments is 2,730 frames: they are made as they can go on. What comes behind the unit
 * stays behind it.
 */
CASE(frames_of_one_unit) {
	static uint8_t unit[DOCSIS_FRAME_MAX];
	unsigned frames, fragments;
	uint32_t most_behind = 0;
	size_t size;

	frames = small_frames(unit, sizeof(unit), &size);
	assert_true(frames > 2600);
	fragments = bench_put_unit(PLAIN, unit, size, 1900, send_packet);
	bench_put(PLAIN, 200);
	for (int i = 0; i < 60; i++)
		bench_put_many(FRAMED, 14, 100);
	while (bench->came[PLAIN] == 0) {
		bench_round();
		assert_in_range(bench->u->list.queues[US_JOINED].count, 0, BEHIND);
		assert_in_range(rte_mempool_in_use_count(bench->frames), 0,
				2 * fragments + bench->u->list.queues[US_JOINED].count + 300);
		most_behind = RTE_MAX(most_behind, bench->u->list.queues[US_JOINED].count);
		assert_in_range(small_frames_take(), 0, 2 * PIPELINE_BURST); /* of a round */
		assert_true(bench->came[PLAIN] == 0 || bench->others == frames);
	}
	bench_settle();
	assert_true(most_behind >= BEHIND / 2);
	assert_int_equal(bench->others, frames);
	assert_int_equal(bench_count(COUNTER_FRAGMENTS), fragments);
}
