/* SPDX-License-Identifier: BSD-3-Clause */
/* The pieces of bursts: how many there may be, whose buffers they are, and where they end. */
#include "test.h"

#include "fixture.h"
#include "upstream_bursts.h"

static void too_many_bytes(void **state) {
	static const uint8_t zeroes[1900];

	(void)state;
	setup();
	for (size_t last = 0; last < 2; last++) { /* 65,535 bytes, then one more */
		header();
		for (int i = 0; i < 34; i++) {
			payload(zeroes, sizeof(zeroes));
			go();
		}
		payload(zeroes, 935 + last);
		trailer();
		go();
	}
	bench_expect(bench, DROP_BURST_TOO_LONG, 1);
	assert_int_equal(bench_count(bench, COUNTER_PADDING_BYTES), 65535);
	whole();
	go();
	finish(3, 2);
}

static void too_many_pieces(void **state) {
	static const uint8_t zeroes[2];

	(void)state;
	setup();
	for (int pieces = 64; pieces <= 65; pieces++) {
		header();
		for (int i = 0; i < pieces; i++) {
			payload(zeroes, i % 3); /* empty ones are none */
			if (i % 3 == 0)
				payload(zeroes, 1);
		}
		trailer();
	}
	go();
	bench_expect(bench, DROP_BURST_TOO_LONG, 1);
	assert_int_equal(bench_count(bench, COUNTER_PADDING_BYTES), 22 + 21 + 42);
	finish(2, 1);
}

/* Without buffers for pieces only the last piece of a packet can be had; an empty one is none. */
static void no_buffer(void **state) {
	struct rte_mbuf *taken[2047];

	(void)state;
	setup();
	assert_int_equal(rte_pktmbuf_alloc_bulk(bench->pieces, taken, bench->piece_buffers), 0);
	header();
	lost_payload();
	trailer();
	header();
	lost_payload();
	lost_payload();
	trailer();
	header();
	frame();
	payload("", 0);
	trailer();
	go();
	bench_expect(bench, DROP_BURST_NO_BUFFER, 2);
	rte_pktmbuf_free_bulk(taken, bench->piece_buffers);
	finish(3, 1);
}

/* 85 bursts of three segments, and 255 segments of nothing. */
static void a_packet_full_of_segments(void **state) {
	(void)state;
	bench_prepare(bench);
	bench->packet_room = RTE_PKTMBUF_HEADROOM + 16384;
	bench->packet_buffers = 63;
	bench_start(bench);
	open_packet();
	for (int i = 0; i < 85; i++) {
		uint8_t bytes[BENCH_FRAME_MAX];

		header();
		payload(bytes, bench_mac(bench, STREAM, BENCH_SMALLEST, bytes));
		trailer();
	}
	assert_int_equal(psp.count, PSP_COUNT_MAX);
	go();
	bench_complete(bench, STREAM);
	header();
	while (psp.count < PSP_COUNT_MAX)
		payload("", 0);
	go();
	trailer();
	go();
	assert_int_equal(bench_count(bench, COUNTER_NO_BURSTS), 1);
	finish(86, 85);
}

/*
 * Pieces of one packet belong to several bursts, which end at different times; whoever is the last
 * gives the packet back.
 */
static void pieces_of_many_bursts(void **state) {
	uint8_t bytes[BENCH_FRAME_MAX];
	size_t size = 0, cut = 0;

	(void)state;
	setup();
	for (int i = 0; i < 500; i++) {
		/* the end of one, a whole one, the beginning of another */
		if (i > 0) {
			payload(bytes + cut, size - cut);
			trailer();
		}
		whole();
		header();
		size = bench_mac(bench, STREAM, random_between(&bench->random, 60, 300), bytes);
		cut = random_between(&bench->random, 1, (uint32_t)size - 1);
		payload(bytes, cut);
		go();
		assert_int_equal(rte_mempool_in_use_count(bench->packets), 1);
	}
	payload(bytes, 0);
	go();
	assert_int_equal(upstream_held(bench->u, UNIT_BURST), 1);
	bench->serial[STREAM]--;
	finish(1000, 999);
}

/* As above, on exact buffers: what is read ends where the packet does. */
static void nothing_behind_the_packet(void **state) {
	uint8_t bytes[BENCH_FRAME_MAX], packet[BENCH_PACKET_MAX];
	size_t size;

	(void)state;
	setup();
	size = bench_mac(bench, STREAM, BENCH_SMALLEST, bytes);
	for (size_t cut = 0; cut <= size; cut++) {
		bench->serial[STREAM] = (uint32_t)cut;
		bench_mac(bench, STREAM, BENCH_SMALLEST, bytes);
		header();
		payload(bytes, cut);
		bench_inject_guarded(bench, packet, psp_write(bench, &psp, packet));
		open_packet();
		payload(bytes + cut, size - cut);
		bench_inject_guarded(bench, packet, psp_write(bench, &psp, packet));
		open_packet();
		trailer();
		bench_inject_guarded(bench, packet, psp_write(bench, &psp, packet));
		open_packet();
		bench_settle(bench);
		assert_int_equal(rte_mempool_in_use_count(bench->guarded), 0);
	}
	finish(size + 1, size + 1);
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(too_many_bytes),
		cmocka_unit_test(too_many_pieces),
		cmocka_unit_test(no_buffer),
		cmocka_unit_test(a_packet_full_of_segments),
		cmocka_unit_test(pieces_of_many_bursts),
		cmocka_unit_test(nothing_behind_the_packet),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
