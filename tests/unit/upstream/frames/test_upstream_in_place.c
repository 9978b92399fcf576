/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests which frames stay attached to their packet, and how long they keep its buffer. */

#include <rte_ethdev.h>

#include "upstream_cases.h"

#define SIZE 120
#define MAC_SIZE (DOCSIS_MAC_HEADER + SIZE + 4)

/* Receives up to `most` packets. They must be the next ones of the stream. */
static unsigned receive_packets(unsigned stream, struct rte_mbuf **pkts, uint16_t most) {
	uint16_t n;

	kit_run_rounds(2);
	n = rte_eth_rx_burst(kit->network, 0, pkts, most);
	for (uint16_t i = 0; i < n; i++) {
		uint8_t expected[KIT_FRAME_MAX];

		kit_write_ethernet(stream, kit->received[stream], SIZE, expected);
		assert_int_equal(pkts[i]->pkt_len, SIZE);
		assert_memory_equal(rte_pktmbuf_mtod(pkts[i], uint8_t *), expected, SIZE);
		kit->next[stream] = ++kit->received[stream];
	}
	return n;
}

static unsigned packets_in_use(void) {
	return rte_mempool_in_use_count(kit->packets);
}

CASE(last_frame_frees_packet) {
	struct rte_mbuf *pkts[4];

	kit_send_frames(SEGMENTED, 3, SIZE);
	assert_int_equal(receive_packets(SEGMENTED, pkts, 4), 3);
	for (int i = 0; i < 3; i++) {
		assert_ptr_equal(pkts[i]->pool, kit->pieces);
		assert_ptr_equal(rte_pktmbuf_mtod(pkts[i], uint8_t *),
				 rte_pktmbuf_mtod(pkts[0], uint8_t *) + (size_t)i * MAC_SIZE);
		assert_int_equal(rte_pktmbuf_tailroom(pkts[i]), 4); /* for its CRC */
	}
	rte_pktmbuf_free(pkts[1]);
	rte_pktmbuf_free(pkts[2]);
	assert_int_equal(packets_in_use(), 1);
	rte_pktmbuf_free(pkts[0]);
	assert_int_equal(packets_in_use(), 0);
}

/* One ends in the next piece, and of one the header alone is in the piece before. */
CASE(frame_in_two_pieces_is_copied) {
	struct rte_mbuf *pkts[2];

	for (int i = 0; i < 2; i++) {
		size_t split = i == 0 ? MAC_SIZE - 1 : DOCSIS_MAC_HEADER;
		uint8_t bytes[KIT_FRAME_MAX];
		struct psp_packet p;

		kit_next_frame(PLAIN, SIZE, bytes);
		kit_begin_stream_burst(&p, PLAIN);
		psp_add_segment(&p, false, false, bytes, split);
		psp_add_segment(&p, false, false, bytes + split, MAC_SIZE - split);
		psp_add_trailer(&p);
		psp_send(&p);
		assert_int_equal(receive_packets(PLAIN, pkts, 2), 1);
		assert_ptr_equal(pkts[0]->pool, kit->frames);
		assert_int_equal(packets_in_use(), 0);
		rte_pktmbuf_free(pkts[0]);
	}
}

/* A fragment is pending until the others arrive. A message may wait at the control port. */
CASE(fragments_and_messages_are_copied) {
	uint8_t pdu[60] = {0}, bytes[KIT_FRAME_MAX];
	struct rte_mbuf *m;
	size_t size;

	size = kit_write_fragment(PLAIN, 0, FRAGMENT_FIRST, pdu, sizeof(pdu), bytes);
	size += kit_write_clear_frame(3, DOCSIS_KIND_MANAGEMENT, pdu, sizeof(pdu), bytes + size);
	kit_send_plain(PLAIN, bytes, size);
	kit_run_rounds(2);
	assert_int_equal(kit->u->defragment.pending_fragments, 1);
	assert_int_equal(packets_in_use(), 0);
	assert_int_equal(rte_eth_rx_burst(kit->control, 0, &m, 1), 1);
	rte_pktmbuf_free(m);
	kit_expect_drops(DROP_STOPPED, 1);
	upstream_stop(kit->u);
}

CASE(frame_is_copied_if_configured, .copy_frames = true) {
	struct rte_mbuf *pkts[2];

	kit_send_frame(SEGMENTED, SIZE);
	assert_int_equal(receive_packets(SEGMENTED, pkts, 2), 1);
	assert_ptr_equal(pkts[0]->pool, kit->frames);
	assert_int_equal(packets_in_use(), 0);
	rte_pktmbuf_free(pkts[0]);
}

CASE(frame_without_piece_buffer_is_copied, .piece_buffers = 127) {
	struct rte_mbuf *pieces[127];

	assert_int_equal(rte_pktmbuf_alloc_bulk(kit->pieces, pieces, 127), 0);
	frame_is_copied_if_configured();
	rte_pktmbuf_free_bulk(pieces, 127);
}

CASE(frames_in_transmit_queue_keep_limited_packets, .network_depth = 4) {
	const uint32_t frames = 900;
	struct us_buffers most = us_buffers(&kit->sg, NULL);

	for (uint32_t i = 0; i < frames; i++) {
		kit_send_frame(SEGMENTED, SIZE);
		kit_run_round();
		assert_in_range(packets_in_use(), 0, 3 + most.packets - most.pending_packets);
	}
	assert_in_range(kit->u->transmit.count, US_QUEUED / 2, US_QUEUED / 2 + PIPELINE_BURST);
	assert_in_range(packets_in_use(), US_QUEUED / 2, UINT32_MAX);
	kit_settle();
	assert_int_equal(packets_in_use(), 0);
}
