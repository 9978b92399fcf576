/* SPDX-License-Identifier: BSD-3-Clause */
/* Bursts out of the segments of PSP: each reason to drop one, and whose buffers they are. */
#include "test.h"

#include <string.h>

#include "fixture.h"
#include "upstream_bench.h"

#define STREAM 6 /* in the clear, without segment headers, on the SC-QAM channel */
#define SID 0x40
#define FRAME_SIZE 100 /* of the Ethernet frame */

static struct upstream_bench storage, *const bench = &storage;
static struct bench_psp psp;

static void header(void) {
	psp_add_header(bench, &psp, SID);
}

static void trailer(void) {
	psp_add_trailer(bench, &psp);
}

static void payload(const void *bytes, size_t size) {
	psp_add(&psp, false, false, bytes, size);
}

/* A frame that must not arrive. */
static void lost_payload(void) {
	static const uint8_t bytes[40];

	payload(bytes, sizeof(bytes));
}

static void frame(void) {
	uint8_t bytes[BENCH_FRAME_MAX];
	size_t size = bench_mac(bench, STREAM, FRAME_SIZE, bytes);

	payload(bytes, size);
}

static void open_packet(void) {
	psp_open(&psp, BENCH_SC_QAM);
}

static void go(void) {
	psp_send(bench, &psp);
	bench_settle(bench);
	open_packet();
}

static void whole(void) {
	header();
	frame();
	trailer();
}

static void setup(void) {
	bench_open(bench);
	open_packet();
}

static void finish(uint64_t bursts, uint64_t good) {
	assert_int_equal(bench_count(bench, COUNTER_BURSTS), bursts);
	assert_int_equal(bench_count(bench, COUNTER_SEGMENTS), good);
	bench_complete(bench, STREAM);
	bench_close(bench);
}

/* Payload or trailer without a header is one burst, up to the next header. */
static void headless(void **state) {
	(void)state;
	setup();
	lost_payload();
	lost_payload();
	go();
	trailer();
	lost_payload();
	whole();
	trailer(); /* behind a whole one: another */
	whole();
	go();
	bench_expect(bench, DROP_BURST_HEADLESS, 2);
	finish(4, 2);
}

static void broken(void **state) {
	(void)state;
	setup();
	header();
	whole();
	header();
	lost_payload();
	go();
	header();
	go();
	whole();
	go();
	bench_expect(bench, DROP_BURST_BROKEN, 3);
	finish(5, 2);
}

static void wrong_header(void **state) {
	uint8_t bytes[UEPI_HEADER_MAX] = {0};

	(void)state;
	setup();
	for (size_t size = 0; size < sizeof(bytes); size++) {
		if (size == uepi_header_size(UEPI_SC_QAM))
			continue;
		psp_add(&psp, true, false, bytes, size);
		lost_payload();
		trailer();
		bench_expect(bench, DROP_BURST_HEADER, 1);
	}
	whole();
	/* header and trailer in one */
	psp_add(&psp, true, true, bytes, uepi_header_size(UEPI_SC_QAM));
	lost_payload();
	trailer();
	bench_expect(bench, DROP_BURST_HEADER, 1);
	/* it also ends an open one */
	header();
	psp_add(&psp, true, false, bytes, 1);
	bench_expect(bench, DROP_BURST_BROKEN, 1);
	bench_expect(bench, DROP_BURST_HEADER, 1);
	lost_payload();
	whole();
	go();
	finish(sizeof(bytes) - 1 + 2 + 1 + 2, 2);
}

static void gap_in_a_burst(void **state) {
	(void)state;
	setup();
	header();
	lost_payload();
	go();
	bench->psp[0][0]++;
	lost_payload();
	trailer();
	whole();
	go();
	assert_int_equal(upstream_held(bench->u, UNIT_BURST), 1);
	bench_after(bench, 5 * BENCH_MS);
	bench_expect(bench, DROP_BURST_GAP, 1);
	finish(2, 1);
}

/* A gap between two bursts harms neither; what of one comes behind it has no header. */
static void gap_between_bursts(void **state) {
	(void)state;
	setup();
	whole();
	go();
	bench->psp[0][0] += 40;
	whole();
	go();
	bench->psp[0][0] += 40;
	lost_payload();
	trailer();
	whole();
	go();
	bench_expect(bench, DROP_BURST_HEADLESS, 1);
	finish(4, 3);
}

/* A gap in one flow of PSP is none in another, unless the session counts. */
static void gap_of_another_flow(enum psp_numbering numbering) {
	bool by_session = numbering == PSP_NUMBERING_SESSION;

	bench_prepare(bench);
	bench->sg.upstream.psp_numbering = numbering;
	bench_start(bench);
	open_packet();
	psp.flow = 5;
	psp.numbered = by_session;
	psp.sequence = 0;
	header();
	lost_payload(); /* padding, should it arrive */
	go();
	psp.numbered = true;
	psp.sequence = 1;
	whole();
	go();
	psp.numbered = true;
	psp.sequence = 100;
	whole();
	go();
	psp.flow = 5;
	psp.numbered = by_session;
	psp.sequence = 101;
	trailer();
	go();
	bench_expect(bench, DROP_BURST_GAP, by_session);
	finish(3, 3 - by_session);
}

static void gaps_and_flows(void **state) {
	(void)state;
	gap_of_another_flow(PSP_NUMBERING_FLOW);
	gap_of_another_flow(PSP_NUMBERING_SESSION);
}

static void ofdma_trailers(void **state) {
	struct uepi_trailer t = {.flags = UEPI_FEC_VALID, .fec_uncorrectable = 7};
	uint8_t bytes[UEPI_TRAILER_MAX];
	size_t size;

	(void)state;
	bench_open(bench);
	for (int wrong = 0; wrong < 3; wrong++) {
		psp_open(&psp, BENCH_OFDMA_ALONE);
		psp_add_header(bench, &psp, 0x31);
		lost_payload();
		t.burst_id = bench->burst_id + (wrong == 0);
		size = uepi_trailer_write(UEPI_OFDMA, &t, bytes);
		if (wrong == 1)
			bytes[0] ^= 0x80; /* version */
		psp_add(&psp, false, true, bytes, size - (wrong == 2));
		bench_expect(bench, DROP_BURST_TRAILER, 1);
		/* that was the end of it: what follows is another one */
		lost_payload();
		bench_expect(bench, DROP_BURST_HEADLESS, 1);
		psp_send(bench, &psp);
		bench_settle(bench);
	}
	assert_int_equal(bench_count(bench, COUNTER_FEC_UNCORRECTABLE), 0);
	psp_open(&psp, BENCH_OFDMA_ALONE);
	psp_add_header(bench, &psp, 0x31);
	t.burst_id = bench->burst_id;
	psp_add(&psp, false, true, bytes, uepi_trailer_write(UEPI_OFDMA, &t, bytes));
	psp_send(bench, &psp);
	bench_settle(bench);
	assert_int_equal(bench_count(bench, COUNTER_FEC_UNCORRECTABLE), 7);
	assert_int_equal(bench_count(bench, COUNTER_NO_BURSTS), 1);
	finish(7, 0);
}

/* A trailer that cannot be read does not cost the burst. */
static void odd_trailers(void **state) {
	struct uepi_trailer t = {.flags = UEPI_FEC_VALID, .fec_uncorrectable = 3};
	uint8_t bytes[UEPI_TRAILER_MAX + 4] = {0};

	(void)state;
	setup();
	uepi_trailer_write(UEPI_SC_QAM, &t, bytes);
	for (size_t size = 0; size < 12; size++) {
		header();
		frame();
		psp_add(&psp, false, true, bytes, size);
	}
	go();
	assert_int_equal(bench_count(bench, COUNTER_ODD_TRAILERS), 11);
	assert_int_equal(bench_count(bench, COUNTER_FEC_UNCORRECTABLE), 4 * 3);
	finish(12, 12);
}

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

static void never_ends(void **state) {
	(void)state;
	setup();
	header();
	go(); /* nothing but a header waits, too */
	psp.flow = 1;
	header();
	lost_payload();
	go();
	assert_int_equal(upstream_held(bench->u, UNIT_BURST), 2);
	bench_after(bench, 100 * BENCH_MS - 1);
	assert_int_equal(upstream_held(bench->u, UNIT_BURST), 2);
	bench_after(bench, 1);
	bench_expect(bench, DROP_BURST_TIMEOUT, 2);
	assert_int_equal(upstream_held(bench->u, UNIT_BURST), 0);
	lost_payload(); /* the rest is passed over */
	trailer();
	whole();
	go();
	finish(3, 1);
}

/* Without buffers for pieces only the last piece of a packet can be had. */
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
	whole();
	go();
	bench_expect(bench, DROP_BURST_NO_BUFFER, 2);
	rte_pktmbuf_free_bulk(taken, bench->piece_buffers);
	finish(3, 1);
}

static void unused_grants(void **state) {
	(void)state;
	setup();
	header();
	trailer();
	header();
	payload("", 0);
	trailer();
	whole();
	go();
	assert_int_equal(bench_count(bench, COUNTER_NO_BURSTS), 2);
	finish(3, 1);
}

static void unknown_sid(void **state) {
	uint8_t bytes[10] = {0};

	(void)state;
	setup();
	bench_burst(bench, BENCH_SC_QAM, 0x31, bytes, sizeof(bytes)); /* of another channel */
	bench_burst(bench, BENCH_SC_QAM, 0x3fff, bytes, sizeof(bytes));
	bench_burst(bench, BENCH_OFDMA, 0x40, bytes, sizeof(bytes));
	bench_burst(bench, BENCH_SC_QAM, 0x3fff, bytes, 0); /* nothing in it: nobody asks */
	bench_expect(bench, DROP_UNKNOWN_SID, 3);
	bench_settle(bench);
	finish(4, 0);
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
	size_t size;

	(void)state;
	setup();
	for (int i = 0; i < 500; i++) {
		size_t cut;

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
		cmocka_unit_test(headless),
		cmocka_unit_test(broken),
		cmocka_unit_test(wrong_header),
		cmocka_unit_test(gap_in_a_burst),
		cmocka_unit_test(gap_between_bursts),
		cmocka_unit_test(gaps_and_flows),
		cmocka_unit_test(ofdma_trailers),
		cmocka_unit_test(odd_trailers),
		cmocka_unit_test(too_many_bytes),
		cmocka_unit_test(too_many_pieces),
		cmocka_unit_test(never_ends),
		cmocka_unit_test(no_buffer),
		cmocka_unit_test(unused_grants),
		cmocka_unit_test(unknown_sid),
		cmocka_unit_test(a_packet_full_of_segments),
		cmocka_unit_test(pieces_of_many_bursts),
		cmocka_unit_test(nothing_behind_the_packet),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
