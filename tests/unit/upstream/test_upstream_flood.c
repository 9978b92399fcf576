/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Much at once, and nobody loses by it: requests of one modem, modems that all wait for the rest of a
 * frame, and fragments that become thousands of frames.
 */
#include "test.h"

#include <string.h>

#include "fixture.h"
#include "upstream_bench.h"
#include "wire/bytes.h"

#define FRAMED 4 /* of modem 2 */
#define PLAIN 6 /* of modem 3 */
#define PDU_MIN 14 /* without CRC: no more than an Ethernet header */
#define CROWD 200
#define BEHIND (US_TRANSMIT_CAPACITY / 2 + PIPELINE_BURST) /* the most behind a unit */

static struct upstream_bench storage, *const bench = &storage;

/* A modem's frames behind each other: 40 kB of nothing but requests, at the port at once. */
static void requests_of_one_modem(void **state) {
	const struct us_request_sink *sink;
	uint8_t bytes[1980], one[DOCSIS_MAC_HEADER];
	unsigned sent = 0;
	size_t size = 0;

	(void)state;
	bench_open(bench);
	sink = &bench->u->requests.sink;
	while (size < sizeof(bytes))
		size += docsis_request_write(1, bench_streams[FRAMED].sid, bytes + size);
	bench_segment(bench, FRAMED, 0, bytes, size);
	sent = (unsigned)size;
	while (bench->u->extract.cut.segment == NULL)
		bench_round(bench);
	/* nothing else is under way, and the next round goes on with it */
	assert_int_equal(bench->u->transmit.count + bench->u->r.crypto->held, 0);
	assert_int_equal(rte_ring_count(bench->u->requests.ring), 0);
	assert_true(upstream_busy(bench->u));
	for (; sent < 20 * sizeof(bytes); sent += (unsigned)size)
		bench_segment(bench, FRAMED, 0, bytes, size);
	bench_plain(bench, PLAIN, one, docsis_request_write(3, bench_streams[PLAIN].sid, one));
	bench_settle(bench);
	assert_int_equal(sink->by_modem[3][REQUEST_FRAME], 1);
	assert_int_equal(sink->by_modem[2][REQUEST_FRAME], sent / DOCSIS_MAC_HEADER);
	assert_int_equal(bench_count(bench, COUNTER_REQUESTS_LOST), 0);
	bench_close(bench);
}

/* Segment `number` of a modem of the crowd. */
static void crowd_segment(unsigned modem, uint16_t number, bool begins, const uint8_t *bytes,
			  size_t size) {
	struct segment_header h = {.pointer_valid = begins, .sequence = number};
	uint8_t payload[BENCH_FRAME_MAX];

	segment_header_write(&h, payload);
	memcpy(payload + SEGMENT_HEADER_SIZE, bytes, size);
	bench_burst(bench, bench_session(0), (uint16_t)(BENCH_CROWD_SID + modem), payload,
		    SEGMENT_HEADER_SIZE + size);
}

/* A frame of a modem of the crowd that is neither IP nor ARP. Returns its size. */
static size_t crowd_frame(unsigned modem, uint8_t *pdu, size_t size, uint8_t *out) {
	static const struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET};

	memset(pdu, (int)modem, size);
	store_be16(pdu + 12, 0x88b5);
	store_be32(pdu + 14, modem);
	return bench_frame(bench, BENCH_MODEMS + modem, &h, pdu, size, out);
}

static void crowd_open(uint32_t held, unsigned modems) {
	bench_prepare(bench);
	bench_crowd(bench, modems);
	bench->sg.upstream.held = held;
	bench_start(bench);
}

/* Between two grants, each modem waits for the rest of a frame: more than `held` in all. */
static void a_frame_of_each_modem(void **state) {
	uint8_t pdu[300], frame[BENCH_FRAME_MAX];
	size_t size;

	(void)state;
	crowd_open(64000, CROWD);
	for (unsigned m = 0; m < CROWD; m++) {
		crowd_frame(m, pdu, sizeof(pdu), frame);
		crowd_segment(m, 0, true, frame, 100);
		bench_settle(bench);
	}
	assert_int_equal(upstream_held(bench->u, UNIT_FRAME), CROWD);
	assert_int_equal(bench->u->holds.buffers[HOLD_POOL_FRAMES], CROWD);
	for (unsigned m = 0; m < CROWD; m++) {
		size = crowd_frame(m, pdu, sizeof(pdu), frame);
		crowd_segment(m, 1, false, frame + 100, size - 100);
		bench_settle(bench);
		assert_int_equal(bench->others, m + 1);
		assert_int_equal(bench->other_size, sizeof(pdu));
		assert_memory_equal(bench->other, pdu, sizeof(pdu));
	}
	bench_close(bench);
}

/* Each modem has a segment that is ahead. */
static void a_gap_of_each_modem(void **state) {
	uint8_t pdu[100], frame[BENCH_FRAME_MAX];
	static const uint16_t numbers[3] = {0, 2, 1};

	(void)state;
	crowd_open(8388608, BENCH_CROWD);
	for (unsigned i = 0; i < ARRAY_COUNT(numbers); i++) {
		for (unsigned m = 0; m < BENCH_CROWD; m++) {
			size_t size = crowd_frame(m, pdu, sizeof(pdu), frame);

			crowd_segment(m, numbers[i], true, frame, size);
		}
		bench_settle(bench);
		assert_int_equal(bench->u->reassemble.waiting_segments, i == 1 ? BENCH_CROWD : 0);
	}
	assert_int_equal(bench->others, 3 * BENCH_CROWD);
	assert_int_equal(bench_count(bench, COUNTER_WINDOWS_FULL), 0);
	assert_int_equal(bench_count(bench, COUNTER_SEGMENT_GAPS), 0);
	bench_close(bench);
}

/* The smallest frames, each with its number. Returns how many they are. */
static unsigned small_frames(uint8_t *unit, size_t room, size_t *size) {
	static const struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET};
	uint8_t pdu[PDU_MIN] = {2, 0, 0, 0, 0, 1, [12] = 0x88, [13] = 0xb5};
	unsigned n = 0;

	*size = 0;
	while (*size + DOCSIS_MAC_HEADER + PDU_MIN + 4 <= room) {
		store_be32(pdu + 6, n++);
		*size += bench_frame(bench, 3, &h, pdu, PDU_MIN, unit + *size);
	}
	return n;
}

/* Takes what came out: of the small frames the next one. */
static void small_frames_take(void) {
	uint32_t before = bench->others;

	while (bench_take(bench, 1) > 0) {
		if (bench->others == before)
			continue;
		assert_int_equal(bench->other_size, BENCH_SMALLEST); /* padded */
		assert_int_equal(load_be32(bench->other + 6), before);
		before = bench->others;
	}
}

/* A segment of the other modem. */
static void send_packets(unsigned count) {
	uint8_t room[2000];
	size_t size = 0;

	while (count-- > 0)
		size += bench_mac(bench, FRAMED, 100, room + size);
	bench_segment(bench, FRAMED, 0, room, size);
}

/* Sends bytes in fragments, and a packet of another modem with each. Returns how many they were. */
static unsigned send_unit(const uint8_t *unit, size_t size) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_FRAGMENT,
				     .privacy = PRIVACY_BP_UP,
				     .sid = bench_streams[PLAIN].sid,
				     .fragment_first = true};
	uint8_t out[BENCH_FRAME_MAX];
	unsigned count = 0;
	size_t part;

	for (size_t at = 0; at < size; at += part, count++) {
		part = size - at < 1900 ? size - at : 1900;
		h.fragment_last = at + part == size;
		h.fragment_sequence = count & 0xf;
		bench_plain(bench, PLAIN, out, bench_frame(bench, 3, &h, unit + at, part, out));
		send_packets(1);
		h.fragment_first = false;
	}
	return count;
}

/*
 * One unit of 35 fragments is 2,730 frames: they are made as they can go on. What comes behind the unit
 * stays behind it.
 */
static void frames_of_one_unit(void **state) {
	static uint8_t unit[DOCSIS_FRAME_MAX];
	unsigned frames, fragments;
	uint8_t last[BENCH_FRAME_MAX];
	uint32_t most_behind = 0;
	size_t size;

	(void)state;
	bench_open(bench);
	frames = small_frames(unit, sizeof(unit), &size);
	assert_true(frames > 2600);
	fragments = send_unit(unit, size);
	size = bench_mac(bench, PLAIN, 200, last);
	bench_plain(bench, PLAIN, last, size);
	for (int i = 0; i < 60; i++)
		send_packets(14);
	while (bench->came[PLAIN] == 0) {
		bench_round(bench);
		assert_in_range(bench->u->list.queues[US_JOINED].count, 0, BEHIND);
		assert_in_range(rte_mempool_in_use_count(bench->frames), 0,
				2 * fragments + bench->u->list.queues[US_JOINED].count + 300);
		most_behind = RTE_MAX(most_behind, bench->u->list.queues[US_JOINED].count);
		small_frames_take();
		assert_true(bench->came[PLAIN] == 0 || bench->others == frames);
	}
	bench_settle(bench);
	bench_complete(bench, PLAIN);
	bench_complete(bench, FRAMED);
	assert_true(most_behind >= BEHIND / 2);
	assert_int_equal(bench->others, frames);
	assert_int_equal(bench_count(bench, COUNTER_FRAGMENTS), fragments);
	bench_close(bench);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(requests_of_one_modem),
		cmocka_unit_test(a_frame_of_each_modem),
		cmocka_unit_test(a_gap_of_each_modem),
		cmocka_unit_test(frames_of_one_unit),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
