/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What is late for a reason of ours: the network port, the crypto device or the worker did not get on.
 * No time runs out meanwhile, and the line to the network port keeps its length.
 */
#include "crypto_limit.h"
#include "upstream_cases.h"

#define AES 2 /* of modem 0 */
#define LINE (US_TRANSMIT_CAPACITY / 2 + PIPELINE_BURST) /* the most that is to wait in it */

static void rounds(unsigned n) {
	while (n-- > 0) {
		bench_round();
		assert_in_range(bench->u->transmit.count + bench->u->r.crypto->pending, 0, LINE);
	}
}

/* Packets of the stream, 14 in a burst. */
static void put(unsigned stream) {
	bench_put_many(stream, 14, 110);
}

/* Frames of the modem of PLAIN that are neither IP nor ARP. Returns how many bytes they are. */
static size_t write_others(uint8_t *out, unsigned count) {
	static const uint8_t pdu[60] = {[12] = 0x88, [13] = 0xb5};
	size_t size = 0;

	while (count-- > 0)
		size += bench_clear(3, DOCSIS_KIND_PACKET, pdu, sizeof(pdu), out + size);
	return size;
}

/* The rest of a frame stands in the R-PHY port for longer than an incomplete frame may wait. */
CASE(network_port_is_blocked, .network_depth = 64) {
	uint8_t frame[BENCH_FRAME_MAX];
	size_t size = bench_mac(FRAMED, 1000, frame);

	bench_send(FRAMED, frame, 500);
	rounds(2);
	assert_int_equal(bench->u->streams.incomplete_frames, 1);
	for (int i = 0; i < 100; i++) {
		put(PLAIN);
		rounds(1);
	}
	bench_segment(FRAMED, BENCH_NO_POINTER, frame + 500, size - 500);
	for (int i = 0; i < 15; i++) {
		bench->clock.now += 10 * BENCH_MS;
		rounds(1);
	}
	assert_true(bench_count(COUNTER_RECEIVED) < bench->injected);
	bench_settle();
}

/* In the burst that is being taken apart: the last fragment, behind more packets than a round makes. */
CASE(last_fragment_is_on_its_way, .prepare = bench_long_packets) {
	uint8_t frame[BENCH_FRAME_MAX], room[8000];
	size_t whole = bench_mac(PLAIN, 1000, frame), size;

	bench_send(PLAIN, room, bench_fragment(PLAIN, 0, FRAGMENT_FIRST, frame, 500, room));
	bench_round();
	assert_int_equal(bench->u->defragment.pending_fragments, 1);
	size = write_others(room, PIPELINE_BURST + 1);
	size += bench_fragment(PLAIN, 1, FRAGMENT_LAST, frame + 500, whole - 500, room + size);
	bench_send(PLAIN, room, size);
	bench_round();
	assert_int_equal(bench->u->defragment.pending_fragments, 1);
	assert_int_equal(bench->u->list.queues[US_SEGMENTS].count, 0);
	bench->clock.now += 150 * BENCH_MS;
	bench_settle();
	assert_int_equal(bench->others, PIPELINE_BURST + 1);
}

/* The same for a segment that another one waits for: its burst is in the list. */
CASE(missing_segment_is_on_its_way) {
	struct bench_psp p;

	bench_send(FRAMED, "\xff", 1);
	bench->segment[FRAMED]++;
	bench_put(FRAMED, 100);
	bench_round();
	assert_int_equal(bench->u->reassemble.pending_segments, 1);
	for (int i = 0; i < 4; i++) {
		psp_open(&p, BENCH_OFDMA_ALONE);
		for (int k = 0; k < 20; k++) {
			psp_add_header(&p, bench_streams[7].sid);
			psp_add(&p, false, false, "", 1);
			psp_add_trailer(&p);
		}
		psp_send(&p);
		bench_expect(DROP_SEGMENT_TRUNCATED, 20);
	}
	bench->segment[FRAMED] = 1;
	bench_segment(FRAMED, BENCH_NO_POINTER, "\xff", 1);
	bench_round();
	assert_int_equal(bench_count(COUNTER_RECEIVED), bench->injected);
	assert_in_range(bench->u->list.queues[US_BURSTS].count, 1, 63);
	bench->clock.now += 11 * BENCH_MS;
	bench_settle();
	assert_int_equal(bench_count(COUNTER_SEGMENTS_MISSING), 0);
}

/* A unit of many packets, in as many fragments as it takes. */
static void put_unit(unsigned packets) {
	static uint8_t unit[DOCSIS_FRAME_MAX];
	size_t size = 0;

	while (packets-- > 0)
		size += bench_mac(PLAIN, BENCH_SMALLEST, unit + size);
	bench_put_unit(PLAIN, unit, size, 1900, NULL);
}

/* What the provider has is on its way to the line, too: there is a place for all of it. While it has that much, nothing
 * more is received, and no unit of fragments becomes more frames than they are. */
static void crypto_is_slow(unsigned bursts, unsigned in_a_unit) {
	crypto_limit_begin(bench->crypto, UINT32_MAX, 0);
	crypto_limit.slow = true;
	for (unsigned i = 0; i < bursts; i++)
		put(AES);
	put_unit(in_a_unit);
	rounds(20);
	assert_in_range(bench->u->r.crypto->pending,
			RTE_MIN(14 * bursts, US_TRANSMIT_CAPACITY / 2u), LINE);
	assert_int_equal(bench->u->extract_joined.cursor.segment != NULL, in_a_unit > 0);
	put(FRAMED);
	rounds(5);
	assert_int_equal(bench_count(COUNTER_RECEIVED) == bench->injected, in_a_unit > 0);
	crypto_limit.slow = false;
	rounds(100);
	assert_true(bench->u->transmit.count >= US_TRANSMIT_CAPACITY / 2);
	bench_settle();
	crypto_limit_end();
}

CASE(crypto_is_slow_behind_bursts, .network_depth = 64) {
	crypto_is_slow(60, 0);
}

CASE(crypto_is_slow_behind_a_unit, .network_depth = 64) {
	crypto_is_slow(32, 800);
}
