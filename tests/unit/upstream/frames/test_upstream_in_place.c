/* SPDX-License-Identifier: BSD-3-Clause */
/* Which frames stay in the packet in which they came, and how long it is kept for them. */

#include <rte_ethdev.h>

#include "upstream_cases.h"

#define SIZE 120
#define FRAME (DOCSIS_MAC_HEADER + SIZE + 4)

/* What stands at the network port, up to `most`, in the order of the stream. */
static unsigned take(unsigned stream, struct rte_mbuf **pkts, uint16_t most) {
	uint16_t n;

	bench_rounds(2);
	n = rte_eth_rx_burst(bench->network, 0, pkts, most);
	for (uint16_t i = 0; i < n; i++) {
		uint8_t expected[BENCH_FRAME_MAX];

		bench_ethernet(stream, bench->came[stream], SIZE, expected);
		assert_int_equal(pkts[i]->pkt_len, SIZE);
		assert_memory_equal(rte_pktmbuf_mtod(pkts[i], uint8_t *), expected, SIZE);
		bench->next[stream] = ++bench->came[stream];
	}
	return n;
}

static unsigned packets_in_use(void) {
	return rte_mempool_in_use_count(bench->packets);
}

CASE(the_last_frame_gives_the_packet_back) {
	struct rte_mbuf *pkts[4];

	bench_put_many(FRAMED, 3, SIZE);
	assert_int_equal(take(FRAMED, pkts, 4), 3);
	for (int i = 0; i < 3; i++) {
		assert_ptr_equal(pkts[i]->pool, bench->pieces);
		assert_ptr_equal(rte_pktmbuf_mtod(pkts[i], uint8_t *),
				 rte_pktmbuf_mtod(pkts[0], uint8_t *) + (size_t)i * FRAME);
		assert_int_equal(rte_pktmbuf_tailroom(pkts[i]), 4); /* its CRC, no more */
	}
	rte_pktmbuf_free(pkts[1]);
	rte_pktmbuf_free(pkts[2]);
	assert_int_equal(packets_in_use(), 1);
	rte_pktmbuf_free(pkts[0]);
	assert_int_equal(packets_in_use(), 0);
}

/* One with its end in the next burst, and one whose header alone stands in the piece before. */
CASE(frames_in_parts_are_copied) {
	struct rte_mbuf *pkts[2];

	for (int i = 0; i < 2; i++) {
		size_t cut = i == 0 ? FRAME - 1 : DOCSIS_MAC_HEADER;
		uint8_t bytes[BENCH_FRAME_MAX];
		struct bench_psp p;

		bench_mac(PLAIN, SIZE, bytes);
		bench_open_stream(&p, PLAIN);
		psp_add(&p, false, false, bytes, cut);
		psp_add(&p, false, false, bytes + cut, FRAME - cut);
		psp_add_trailer(&p);
		psp_send(&p);
		assert_int_equal(take(PLAIN, pkts, 2), 1);
		assert_ptr_equal(pkts[0]->pool, bench->frames);
		assert_int_equal(packets_in_use(), 0);
		rte_pktmbuf_free(pkts[0]);
	}
}

/* A fragment waits for the others, and a message for nobody knows whom. */
CASE(what_may_wait_is_copied) {
	uint8_t pdu[60] = {0}, bytes[BENCH_FRAME_MAX];
	struct rte_mbuf *m;
	size_t size;

	size = bench_fragment(PLAIN, 0, FRAGMENT_FIRST, pdu, sizeof(pdu), bytes);
	size += bench_clear(3, DOCSIS_KIND_MANAGEMENT, pdu, sizeof(pdu), bytes + size);
	bench_plain(PLAIN, bytes, size);
	bench_rounds(2);
	assert_int_equal(bench->u->defragment.pending_fragments, 1);
	assert_int_equal(packets_in_use(), 0);
	assert_int_equal(rte_eth_rx_burst(bench->control, 0, &m, 1), 1);
	rte_pktmbuf_free(m);
	bench_expect(DROP_STOPPED, 1);
	upstream_stop(bench->u);
}

CASE(a_frame_is_copied, .copies = true) {
	struct rte_mbuf *pkts[2];

	bench_put(FRAMED, SIZE);
	assert_int_equal(take(FRAMED, pkts, 2), 1);
	assert_ptr_equal(pkts[0]->pool, bench->frames);
	assert_int_equal(packets_in_use(), 0);
	rte_pktmbuf_free(pkts[0]);
}

CASE(without_a_place_frames_are_copied, .piece_buffers = 127) {
	struct rte_mbuf *places[127];

	assert_int_equal(rte_pktmbuf_alloc_bulk(bench->pieces, places, 127), 0);
	a_frame_is_copied();
	rte_pktmbuf_free_bulk(places, 127);
}

CASE(frames_in_line_keep_so_many_packets, .network_depth = 4) {
	const uint32_t frames = 900;
	struct us_buffers most = us_buffers(&bench->sg, NULL);

	for (uint32_t i = 0; i < frames; i++) {
		bench_put(FRAMED, SIZE);
		bench_round();
		assert_in_range(packets_in_use(), 0, 3 + most.packets - most.pending_packets);
	}
	assert_in_range(bench->u->transmit.count, US_QUEUED / 2, US_QUEUED / 2 + PIPELINE_BURST);
	assert_in_range(packets_in_use(), US_QUEUED / 2, UINT32_MAX);
	bench_settle();
	assert_int_equal(packets_in_use(), 0);
}
