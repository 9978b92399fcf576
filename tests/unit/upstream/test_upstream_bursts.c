/* SPDX-License-Identifier: BSD-3-Clause */
/* Bursts out of the segments of PSP: each reason to drop one, and their pieces. */
#include "upstream_cases.h"

#define SID 0x40 /* of PLAIN */
#define FRAME_SIZE 100 /* of the Ethernet frame */

static struct bench_psp psp;

static void payload(const void *bytes, size_t size) {
	psp_add(&psp, false, false, bytes, size);
}

static void frame(void) {
	uint8_t bytes[BENCH_FRAME_MAX];
	size_t size = bench_mac(PLAIN, FRAME_SIZE, bytes);

	payload(bytes, size);
}

static void open_packet(void) {
	psp_open(&psp, BENCH_SC_QAM);
}

static void go(void) {
	bench_handle_packet(&psp);
	open_packet();
}

/* As many late packets as end the count of the flow: the next one begins another. */
static void end_count(void) {
	bench->psp[0][0] -= 1000;
	for (unsigned i = 0; i < 64; i++)
		bench_put_number(BENCH_SC_QAM, 0, bench->psp[0][0]++);
	bench_expect(DROP_PSP_LATE, 64);
	bench_settle();
}

/* The parts of bursts, in a row. */
static void play(const char *parts) {
	static const uint8_t bytes[40];

	for (; *parts != 0; parts++) {
		switch (*parts) {
		case 'h': psp_add_header(&psp, SID); break;
		case 'f': frame(); break;
		case 'l': payload(bytes, sizeof(bytes)); break; /* a frame that must not arrive */
		case 'e': payload("", 0); break;
		case 't': psp_add_trailer(&psp); break;
		case 'w': play("hft"); break; /* a whole one */
		case '/': go(); break; /* what follows is in the next packet, of flow 0 */
		case '5': psp.flow = 5; break;
		case '+': bench->psp[0][0]++; break; /* a packet is missing */
		case '>': bench->psp[0][0] += 40; break; /* more than can be waited for */
		case '<': end_count(); break;
		case 'T': bench_after(5 * BENCH_MS); break; /* nor is it any longer */
		default: fail_msg("no part of a burst: %c", *parts);
		}
	}
}

static void finish(uint64_t bursts, uint64_t good) {
	assert_int_equal(bench_count(COUNTER_BURSTS), bursts);
	assert_int_equal(bench_count(COUNTER_SEGMENTS), good);
	bench_complete(PLAIN);
}

/* Parts as play() takes them. A gap between two bursts harms neither; what of one comes behind it has no header. */
static const struct {
	const char *parts;
	enum drop_reason reason;
	unsigned dropped, bursts, good, unused;
	enum psp_numbering numbering;
} rows[] = {
	/* payload or trailer without a header is one burst, up to the next header */
	{"ll/tlwtw/", DROP_BURST_HEADLESS, 2, 4, 2, 0},
	{"hwhl/h/w/", DROP_BURST_BROKEN, 3, 5, 2, 0},
	{"hl/+ltw/T", DROP_BURST_GAP, 1, 2, 1, 0},
	{"w/>w/>ltw/", DROP_BURST_HEADLESS, 1, 4, 3, 0},
	{"hthetw/", DROP_BURST_HEADLESS, 0, 3, 1, 2},
	/* what is open when a new count begins ends: how much of it is missing is not known */
	{"h/<w/", DROP_BURST_GAP, 1, 2, 1, 0},
	/* a gap in one flow of PSP is none in another, unless the session counts */
	{"5hl/w/>w/5t/", DROP_BURST_GAP, 0, 3, 3, 0, PSP_NUMBERING_FLOW},
	{"5hl/w/>w/5t/", DROP_BURST_GAP, 1, 3, 2, 0, PSP_NUMBERING_SESSION},
};

EACH_CASE(open_packet)

CASE(parts_in_a_row, .closed = true) {
	for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
		bench_prepare(bench);
		bench->sg.upstream.psp_numbering = rows[i].numbering;
		bench_start();
		open_packet();
		play(rows[i].parts);
		bench_expect(rows[i].reason, rows[i].dropped);
		assert_int_equal(bench_count(COUNTER_NO_BURSTS), rows[i].unused);
		finish(rows[i].bursts, rows[i].good);
		bench_close();
	}
}

CASE(wrong_header) {
	uint8_t bytes[UEPI_HEADER_MAX] = {0};

	for (size_t size = 0; size < sizeof(bytes); size++) {
		if (size == uepi_header_size(UEPI_SC_QAM))
			continue;
		psp_add(&psp, true, false, bytes, size);
		play("lt");
		bench_expect(DROP_BURST_HEADER, 1);
	}
	play("w");
	/* header and trailer in one */
	psp_add(&psp, true, true, bytes, uepi_header_size(UEPI_SC_QAM));
	play("lt");
	bench_expect(DROP_BURST_HEADER, 1);
	/* it also ends an open one */
	play("h");
	psp_add(&psp, true, false, bytes, 1);
	bench_expect(DROP_BURST_BROKEN, 1);
	bench_expect(DROP_BURST_HEADER, 1);
	play("lw/");
	finish(sizeof(bytes) - 1 + 2 + 1 + 2, 2);
}

CASE(ofdma_trailers) {
	struct uepi_trailer t = {.flags = UEPI_FEC_VALID, .fec_uncorrectable = 7};
	uint8_t bytes[UEPI_TRAILER_MAX];
	size_t size;

	for (int wrong = 0; wrong < 3; wrong++) {
		bench_open_burst(&psp, BENCH_OFDMA_ALONE, 0x31);
		play("l");
		t.burst_id = bench->burst_id + (wrong == 0);
		size = uepi_trailer_write(UEPI_OFDMA, &t, bytes);
		if (wrong == 1)
			bytes[0] ^= 0x80; /* version */
		psp_add(&psp, false, true, bytes, size - (wrong == 2));
		bench_expect(DROP_BURST_TRAILER, 1);
		/* that was the end of it: what follows is another one */
		play("l");
		bench_expect(DROP_BURST_HEADLESS, 1);
		bench_handle_packet(&psp);
	}
	assert_int_equal(bench_count(COUNTER_FEC_UNCORRECTABLE), 0);
	bench_open_burst(&psp, BENCH_OFDMA_ALONE, 0x31);
	t.burst_id = bench->burst_id;
	psp_add(&psp, false, true, bytes, uepi_trailer_write(UEPI_OFDMA, &t, bytes));
	bench_handle_packet(&psp);
	assert_int_equal(bench_count(COUNTER_FEC_UNCORRECTABLE), 7);
	assert_int_equal(bench_count(COUNTER_NO_BURSTS), 1);
	finish(7, 0);
}

static void trailer_of(const struct uepi_trailer *t) {
	uint8_t bytes[UEPI_TRAILER_MAX];

	psp_add(&psp, false, true, bytes, uepi_trailer_write(UEPI_SC_QAM, t, bytes));
}

/* A trailer that cannot be read does not cost the burst. Uncorrectable codewords are those of complete bursts whose
 * trailer says that it has counted them. */
CASE(odd_trailers) {
	struct uepi_trailer t = {.flags = UEPI_FEC_VALID, .fec_uncorrectable = 3};
	uint8_t bytes[UEPI_TRAILER_MAX + 4] = {0};

	uepi_trailer_write(UEPI_SC_QAM, &t, bytes);
	for (size_t size = 0; size < 12; size++) {
		play("hf");
		psp_add(&psp, false, true, bytes, size);
	}
	trailer_of(&t); /* of a burst without a beginning */
	bench_expect(DROP_BURST_HEADLESS, 1);
	play("hf");
	t.flags = UEPI_SNR_VALID; /* of another value */
	trailer_of(&t);
	go();
	assert_int_equal(bench_count(COUNTER_ODD_TRAILERS), 11);
	assert_int_equal(bench_count(COUNTER_FEC_UNCORRECTABLE), 4 * 3);
	finish(14, 13);
}

CASE(never_ends) {
	play("h/"); /* nothing but a header waits, too */
	psp.flow = 1;
	play("hl/");
	assert_int_equal(upstream_pending(bench->u, UNIT_BURST), 2);
	bench_after(100 * BENCH_MS - 1);
	assert_int_equal(upstream_pending(bench->u, UNIT_BURST), 2);
	bench_after(1);
	bench_expect(DROP_BURST_TIMEOUT, 2);
	assert_int_equal(upstream_pending(bench->u, UNIT_BURST), 0);
	play("ltw/"); /* the rest is passed over */
	finish(3, 1);
}

CASE(too_many_bytes) {
	static const uint8_t zeroes[1900];

	for (size_t last = 0; last < 2; last++) { /* 65,535 bytes, then one more */
		play("h");
		for (int i = 0; i < 34; i++) {
			payload(zeroes, sizeof(zeroes));
			go();
		}
		payload(zeroes, 935 + last);
		play("t/");
	}
	bench_expect(DROP_BURST_TOO_LONG, 1);
	assert_int_equal(bench_count(COUNTER_PADDING_BYTES), 65535);
	play("w/");
	finish(3, 2);
}

CASE(too_many_pieces) {
	static const uint8_t zeroes[2];

	for (int pieces = 64; pieces <= 65; pieces++) {
		play("h");
		for (int i = 0; i < pieces; i++) {
			payload(zeroes, i % 3); /* empty ones are none */
			if (i % 3 == 0)
				payload(zeroes, 1);
		}
		play("t");
	}
	go();
	bench_expect(DROP_BURST_TOO_LONG, 1);
	assert_int_equal(bench_count(COUNTER_PADDING_BYTES), 22 + 21 + 42);
	finish(2, 1);
}

/* Without buffers for pieces only the last piece of a packet can be had; an empty one is none. */
CASE(no_buffer) {
	struct rte_mbuf *taken[2047];

	assert_int_equal(rte_pktmbuf_alloc_bulk(bench->pieces, taken, bench->piece_buffers), 0);
	play("hlthllthfet/");
	bench_expect(DROP_BURST_NO_BUFFER, 2);
	rte_pktmbuf_free_bulk(taken, bench->piece_buffers);
	finish(3, 1);
}

/* 85 bursts of three segments, and 255 segments of nothing. */
CASE(a_packet_full_of_segments, .prepare = bench_long_packets) {
	for (int i = 0; i < 85; i++) {
		uint8_t bytes[BENCH_FRAME_MAX];

		play("h");
		payload(bytes, bench_mac(PLAIN, BENCH_SMALLEST, bytes));
		play("t");
	}
	assert_int_equal(psp.count, PSP_COUNT_MAX);
	go();
	bench_complete(PLAIN);
	play("h");
	while (psp.count < PSP_COUNT_MAX)
		payload("", 0);
	go();
	play("t/");
	assert_int_equal(bench_count(COUNTER_NO_BURSTS), 1);
	finish(86, 85);
}

/* What follows a gap whose time is over stands in the queue of bursts after the round that finds that. */
CASE(expires_within_two_rounds) {
	struct bench_psp p;

	for (uint16_t number = 10; number <= 12; number += 2) {
		bench_packet_as(&p, PLAIN, FRAME_SIZE, number);
		bench_handle_packet(&p);
	}
	bench->clock.now += 5 * BENCH_MS;
	bench_round();
	assert_int_equal(bench_count(COUNTER_PSP_GAPS), 1);
	assert_int_equal(us_queue(bench->u, US_BURSTS)->count, 1);
	bench_round();
	bench_take(1);
	assert_int_equal(bench->came[PLAIN], 2);
}
