/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests stalls of the network port, the crypto provider and the worker. Meanwhile no timer of
 * pending buffers expires, and the transmit queue keeps its limit. */
#include "crypto_limit.h"
#include "upstream_cases.h"

#define AES 2 /* stream of modem 0, encrypted */
#define TRANSMIT_LIMIT (US_TRANSMIT_CAPACITY / 2 + PIPELINE_BURST) /* frames */

static void run_rounds(unsigned n) {
	while (n-- > 0) {
		kit_run_round();
		assert_in_range(kit->u->transmit.count + kit->u->r.crypto->pending, 0,
				TRANSMIT_LIMIT);
	}
}

/* Sends 14 packets of the stream in one segment or burst. */
static void send_packets(unsigned stream) {
	kit_send_frames(stream, 14, 110);
}

/* Writes frames of modem 3 that are neither IP nor ARP. Returns their bytes. */
static size_t write_non_ip_frames(uint8_t *out, unsigned count) {
	static const uint8_t pdu[60] = {[12] = 0x88, [13] = 0xb5};
	size_t size = 0;

	while (count-- > 0)
		size += kit_write_clear_frame(3, DOCSIS_KIND_PACKET, pdu, sizeof(pdu), out + size);
	return size;
}

/* The rest of a frame is in the R-PHY port for longer than the frame timeout. */
CASE(blocked_network_port_stops_frame_timer, .network_depth = 64) {
	uint8_t frame[KIT_FRAME_MAX];
	size_t size = kit_next_frame(SEGMENTED, 1000, frame);

	kit_send(SEGMENTED, frame, 500);
	run_rounds(2);
	assert_int_equal(kit->u->streams.incomplete_frames, 1);
	for (int i = 0; i < 100; i++) {
		send_packets(PLAIN);
		run_rounds(1);
	}
	kit_send_segment(SEGMENTED, KIT_NO_POINTER, frame + 500, size - 500);
	for (int i = 0; i < 15; i++) {
		kit->clock.now += 10 * KIT_MS;
		run_rounds(1);
	}
	assert_true(kit_counter(COUNTER_RECEIVED) < kit->injected);
	kit_settle();
}

/* The last fragment is in the burst in progress, behind more frames than a round extracts. */
CASE(frame_timer_waits_for_fragment_in_progress, .prepare = kit_use_long_packets) {
	uint8_t frame[KIT_FRAME_MAX], bytes[8000];
	size_t frame_size = kit_next_frame(PLAIN, 1000, frame), size;

	kit_send(PLAIN, bytes, kit_write_fragment(PLAIN, 0, FRAGMENT_FIRST, frame, 500, bytes));
	kit_run_round();
	assert_int_equal(kit->u->defragment.pending_fragments, 1);
	size = write_non_ip_frames(bytes, PIPELINE_BURST + 1);
	size += kit_write_fragment(PLAIN, 1, FRAGMENT_LAST, frame + 500, frame_size - 500,
				   bytes + size);
	kit_send(PLAIN, bytes, size);
	kit_run_round();
	assert_int_equal(kit->u->defragment.pending_fragments, 1);
	assert_int_equal(kit->u->list.queues[US_SEGMENTS].count, 0);
	kit->clock.now += 150 * KIT_MS;
	kit_settle();
	assert_int_equal(kit->other_frames, PIPELINE_BURST + 1);
}

/* The missing segment is in the queue of bursts. */
CASE(reorder_timer_waits_for_queued_segment) {
	struct psp_packet p;

	kit_send(SEGMENTED, "\xff", 1);
	kit->segment[SEGMENTED]++;
	kit_send_frame(SEGMENTED, 100);
	kit_run_round();
	assert_int_equal(kit->u->reassemble.pending_segments, 1);
	for (int i = 0; i < 4; i++) {
		psp_begin(&p, KIT_OFDMA_2);
		for (int k = 0; k < 20; k++) {
			psp_add_header(&p, kit_streams[7].sid);
			psp_add_segment(&p, false, false, "", 1);
			psp_add_trailer(&p);
		}
		psp_send(&p);
		kit_expect_drops(DROP_SEGMENT_TRUNCATED, 20);
	}
	kit->segment[SEGMENTED] = 1;
	kit_send_segment(SEGMENTED, KIT_NO_POINTER, "\xff", 1);
	kit_run_round();
	assert_int_equal(kit_counter(COUNTER_RECEIVED), kit->injected);
	assert_in_range(kit->u->list.queues[US_BURSTS].count, 1, 63);
	kit->clock.now += 11 * KIT_MS;
	kit_settle();
	assert_int_equal(kit_counter(COUNTER_SEGMENTS_MISSING), 0);
}

/* The missing segment is in a packet behind three gaps. The timer of the last gap expires together
 * with that of the segments, which began when the first gap was skipped. */
CASE(segments_of_expired_packets_precede_segment_timer) {
	kit_send(SEGMENTED, "\xff", 1);
	kit->psp[0][0]++;
	kit->segment[SEGMENTED]++;
	kit_send_frame(SEGMENTED, 100);
	kit->psp[0][0]++;
	kit_send_frame(PLAIN, 100);
	kit->psp[0][0]++;
	kit->segment[SEGMENTED] = 1;
	kit_send_segment(SEGMENTED, KIT_NO_POINTER, "\xff", 1);
	kit_settle();
	for (int gap = 1; gap <= 3; gap++) {
		kit_advance(kit->sg.upstream.reorder_timeout_ns);
		assert_int_equal(kit_counter(COUNTER_PSP_GAPS), gap);
	}
	assert_int_equal(kit_counter(COUNTER_SEGMENTS_MISSING), 0);
	kit->segment[SEGMENTED] = 3;
}

static void expire_frames_with_packets(void) {
	kit->sg.upstream.frame_timeout_ns = kit->sg.upstream.reorder_timeout_ns;
}

/* The last fragment is in a packet behind a gap, whose timer expires together with that of the
 * fragments. */
CASE(fragments_of_expired_packets_precede_frame_timer, .prepare = expire_frames_with_packets) {
	uint8_t frame[KIT_FRAME_MAX], bytes[KIT_FRAME_MAX];
	size_t size = kit_next_frame(PLAIN, 1000, frame);

	kit_send(PLAIN, bytes, kit_write_fragment(PLAIN, 0, FRAGMENT_FIRST, frame, 500, bytes));
	kit->psp[0][0]++;
	kit_send(PLAIN, bytes,
		 kit_write_fragment(PLAIN, 1, FRAGMENT_LAST, frame + 500, size - 500, bytes));
	kit_settle();
	assert_int_equal(kit->u->defragment.pending_fragments, 1);
	kit_advance(kit->sg.upstream.reorder_timeout_ns);
	assert_int_equal(kit_counter(COUNTER_PSP_GAPS), 1);
}

/* Sends a unit of this many packets in fragments of 1,900 bytes. */
static void send_unit(unsigned packets) {
	static uint8_t unit[DOCSIS_FRAME_MAX];
	size_t size = 0;

	while (packets-- > 0)
		size += kit_next_frame(PLAIN, KIT_FRAME_MIN, unit + size);
	kit_send_unit(PLAIN, unit, size, 1900, NULL);
}

/* Frames in the crypto provider count against the transmit queue. At the limit, the upstream
 * receives no more and extracts no more frames of a unit. */
static void run_slow_crypto(unsigned bursts, unsigned unit_packets) {
	crypto_limit_begin(kit->crypto, UINT32_MAX, 0);
	crypto_limit.stalled = true;
	for (unsigned i = 0; i < bursts; i++)
		send_packets(AES);
	send_unit(unit_packets);
	run_rounds(20);
	assert_in_range(kit->u->r.crypto->pending, RTE_MIN(14 * bursts, US_TRANSMIT_CAPACITY / 2u),
			TRANSMIT_LIMIT);
	assert_int_equal(kit->u->extract_joined.cursor.segment != NULL, unit_packets > 0);
	send_packets(SEGMENTED);
	run_rounds(5);
	assert_int_equal(kit_counter(COUNTER_RECEIVED) == kit->injected, unit_packets > 0);
	crypto_limit.stalled = false;
	run_rounds(100);
	assert_true(kit->u->transmit.count >= US_TRANSMIT_CAPACITY / 2);
	kit_settle();
	crypto_limit_end();
}

CASE(slow_crypto_stops_receiving, .network_depth = 64) {
	run_slow_crypto(60, 0);
}

CASE(slow_crypto_stops_extraction_of_unit, .network_depth = 64) {
	run_slow_crypto(32, 800);
}
