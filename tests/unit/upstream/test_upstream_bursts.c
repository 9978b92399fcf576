/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests the stage uepi, which joins PSP segments to bursts: each reason to drop one, and limits. */
#include "upstream_cases.h"

#define SID 0x40 /* of PLAIN */
#define FRAME_SIZE 100 /* of the Ethernet frame */

static struct psp_packet psp;

static void add_payload(const void *bytes, size_t size) {
	psp_add_segment(&psp, false, false, bytes, size);
}

static void add_frame(void) {
	uint8_t bytes[KIT_FRAME_MAX];
	size_t size = kit_next_frame(PLAIN, FRAME_SIZE, bytes);

	add_payload(bytes, size);
}

static void begin_packet(void) {
	psp_begin(&psp, KIT_SC_QAM);
}

static void send_packet(void) {
	kit_process_packet(&psp);
	begin_packet();
}

/* Sends 64 late packets: the next number restarts the numbering of the flow. */
static void restart_numbering(void) {
	kit->psp[0][0] -= 1000;
	for (unsigned i = 0; i < 64; i++)
		kit_send_empty_packet(KIT_SC_QAM, 0, kit->psp[0][0]++);
	kit_expect_drops(DROP_PSP_LATE, 64);
	kit_settle();
}

/* Adds parts of bursts to the packet, one per character. */
static void add_parts(const char *parts) {
	static const uint8_t bytes[40];

	for (; *parts != 0; parts++) {
		switch (*parts) {
		case 'h': psp_add_header(&psp, SID); break;
		case 'f': add_frame(); break;
		case 'l': add_payload(bytes, sizeof(bytes)); break; /* no frame */
		case 'e': add_payload("", 0); break; /* an empty payload */
		case 't': psp_add_trailer(&psp); break;
		case 'w': add_parts("hft"); break; /* whole */
		case '/': send_packet(); break; /* begins a packet of flow 0 */
		case '5': psp.flow = 5; break;
		case '+': kit->psp[0][0]++; break; /* one is missing */
		case '>': kit->psp[0][0] += 40; break; /* more than the window */
		case '<': restart_numbering(); break;
		case 'T': kit_advance(5 * KIT_MS); break; /* timer expires */
		default: fail_msg("unknown part of a burst: %c", *parts);
		}
	}
}

/* Checks all bursts, and the good ones, which count as segments. */
static void check_counts(uint64_t bursts, uint64_t good) {
	assert_int_equal(kit_counter(COUNTER_BURSTS), bursts);
	assert_int_equal(kit_counter(COUNTER_SEGMENTS), good);
	kit_check_complete(PLAIN);
}

/* Parts for add_parts(), and the result. The rest of a burst behind a gap has no header. */
static const struct {
	const char *parts;
	enum drop_reason reason;
	unsigned dropped, bursts, good, empty;
	enum psp_numbering numbering;
} sequences[] = {
	/* payload or trailer without a header is one burst, up to the next header */
	{"ll/tlwtw/", DROP_BURST_HEADLESS, 2, 4, 2, 0},
	{"hwhl/h/w/", DROP_BURST_BROKEN, 3, 5, 2, 0},
	{"hl/+ltw/T", DROP_BURST_GAP, 1, 2, 1, 0},
	{"w/>w/>ltw/", DROP_BURST_HEADLESS, 1, 4, 3, 0},
	{"hthetw/", DROP_BURST_HEADLESS, 0, 3, 1, 2},
	/* an open burst ends when the numbering restarts */
	{"h/<w/", DROP_BURST_GAP, 1, 2, 1, 0},
	/* a gap in one PSP flow does not affect another, unless the session has one numbering */
	{"5hl/w/>w/5t/", DROP_BURST_GAP, 0, 3, 3, 0, PSP_NUMBERING_FLOW},
	{"5hl/w/>w/5t/", DROP_BURST_GAP, 1, 3, 2, 0, PSP_NUMBERING_SESSION},
};

BEFORE_EACH_CASE(begin_packet)

CASE(burst_parts_in_any_order, .self_started = true) {
	for (size_t i = 0; i < ARRAY_COUNT(sequences); i++) {
		kit_set_defaults(kit);
		kit->sg.upstream.psp_numbering = sequences[i].numbering;
		kit_start();
		begin_packet();
		add_parts(sequences[i].parts);
		kit_expect_drops(sequences[i].reason, sequences[i].dropped);
		assert_int_equal(kit_counter(COUNTER_NO_BURSTS), sequences[i].empty);
		check_counts(sequences[i].bursts, sequences[i].good);
		kit_close();
	}
}

CASE(bad_header_drops_burst) {
	uint8_t bytes[UEPI_HEADER_MAX] = {0};

	for (size_t size = 0; size < sizeof(bytes); size++) {
		if (size == uepi_header_size(UEPI_SC_QAM))
			continue;
		psp_add_segment(&psp, true, false, bytes, size);
		add_parts("lt");
		kit_expect_drops(DROP_BURST_HEADER, 1);
	}
	add_parts("w");
	/* header and trailer in one segment */
	psp_add_segment(&psp, true, true, bytes, uepi_header_size(UEPI_SC_QAM));
	add_parts("lt");
	kit_expect_drops(DROP_BURST_HEADER, 1);
	/* a bad header also ends an open burst */
	add_parts("h");
	psp_add_segment(&psp, true, false, bytes, 1);
	kit_expect_drops(DROP_BURST_BROKEN, 1);
	kit_expect_drops(DROP_BURST_HEADER, 1);
	add_parts("lw/");
	check_counts(sizeof(bytes) - 1 + 2 + 1 + 2, 2);
}

CASE(bad_ofdma_trailer_drops_burst) {
	struct uepi_trailer t = {.flags = UEPI_FEC_VALID, .fec_uncorrectable = 7};
	uint8_t bytes[UEPI_TRAILER_MAX];
	size_t size;

	for (int fault = 0; fault < 3; fault++) {
		kit_begin_burst(&psp, KIT_OFDMA_2, 0x31);
		add_parts("l");
		t.burst_id = kit->burst_id + (fault == 0);
		size = uepi_trailer_write(UEPI_OFDMA, &t, bytes);
		if (fault == 1)
			bytes[0] ^= 0x80; /* version */
		psp_add_segment(&psp, false, true, bytes, size - (fault == 2));
		kit_expect_drops(DROP_BURST_TRAILER, 1);
		/* the bad trailer ended the burst: what follows is another one */
		add_parts("l");
		kit_expect_drops(DROP_BURST_HEADLESS, 1);
		kit_process_packet(&psp);
	}
	assert_int_equal(kit_counter(COUNTER_FEC_UNCORRECTABLE), 0);
	kit_begin_burst(&psp, KIT_OFDMA_2, 0x31);
	t.burst_id = kit->burst_id;
	psp_add_segment(&psp, false, true, bytes, uepi_trailer_write(UEPI_OFDMA, &t, bytes));
	kit_process_packet(&psp);
	assert_int_equal(kit_counter(COUNTER_FEC_UNCORRECTABLE), 7);
	assert_int_equal(kit_counter(COUNTER_NO_BURSTS), 1);
	check_counts(7, 0);
}

static void add_trailer(const struct uepi_trailer *t) {
	uint8_t bytes[UEPI_TRAILER_MAX];

	psp_add_segment(&psp, false, true, bytes, uepi_trailer_write(UEPI_SC_QAM, t, bytes));
}

/* A trailer that cannot be parsed does not drop its burst. Uncorrectable codewords count only for
 * complete bursts whose trailer marks the count as valid. */
CASE(bad_sc_qam_trailer_keeps_burst) {
	struct uepi_trailer t = {.flags = UEPI_FEC_VALID, .fec_uncorrectable = 3};
	uint8_t bytes[UEPI_TRAILER_MAX + 4] = {0};

	uepi_trailer_write(UEPI_SC_QAM, &t, bytes);
	for (size_t size = 0; size < 12; size++) {
		add_parts("hf");
		psp_add_segment(&psp, false, true, bytes, size);
	}
	add_trailer(&t); /* of a burst without a header */
	kit_expect_drops(DROP_BURST_HEADLESS, 1);
	add_parts("hf");
	t.flags = UEPI_SNR_VALID; /* the codeword count is not valid */
	add_trailer(&t);
	send_packet();
	assert_int_equal(kit_counter(COUNTER_ODD_TRAILERS), 11);
	assert_int_equal(kit_counter(COUNTER_FEC_UNCORRECTABLE), 4 * 3);
	check_counts(14, 13);
}

CASE(incomplete_burst_times_out) {
	add_parts("h/"); /* a header alone is pending, too */
	psp.flow = 1;
	add_parts("hl/");
	assert_int_equal(upstream_pending(kit->u, UNIT_BURST), 2);
	kit_advance(100 * KIT_MS - 1);
	assert_int_equal(upstream_pending(kit->u, UNIT_BURST), 2);
	kit_advance(1);
	kit_expect_drops(DROP_BURST_TIMEOUT, 2);
	assert_int_equal(upstream_pending(kit->u, UNIT_BURST), 0);
	add_parts("ltw/"); /* the rest of the expired burst is ignored */
	check_counts(3, 1);
}

CASE(burst_above_65535_bytes_is_dropped) {
	static const uint8_t zeroes[1900];

	for (size_t last = 0; last < 2; last++) { /* 65,535 bytes, then one more */
		add_parts("h");
		for (int i = 0; i < 34; i++) {
			add_payload(zeroes, sizeof(zeroes));
			send_packet();
		}
		add_payload(zeroes, 935 + last);
		add_parts("t/");
	}
	kit_expect_drops(DROP_BURST_TOO_LONG, 1);
	assert_int_equal(kit_counter(COUNTER_PADDING_BYTES), 65535);
	add_parts("w/");
	check_counts(3, 2);
}

CASE(burst_above_64_pieces_is_dropped) {
	static const uint8_t zeroes[2];

	for (int pieces = 64; pieces <= 65; pieces++) {
		add_parts("h");
		for (int i = 0; i < pieces; i++) {
			add_payload(zeroes, i % 3); /* an empty segment is no piece */
			if (i % 3 == 0)
				add_payload(zeroes, 1);
		}
		add_parts("t");
	}
	send_packet();
	kit_expect_drops(DROP_BURST_TOO_LONG, 1);
	assert_int_equal(kit_counter(COUNTER_PADDING_BYTES), 22 + 21 + 42);
	check_counts(2, 1);
}

/* Without buffers for pieces, a packet can have one piece only, in its own buffer: the last. */
CASE(burst_without_piece_buffers_is_dropped) {
	struct rte_mbuf *allocated[2047];

	assert_int_equal(rte_pktmbuf_alloc_bulk(kit->pieces, allocated, kit->piece_buffers), 0);
	add_parts("hlthllthfet/");
	kit_expect_drops(DROP_BURST_NO_BUFFER, 2);
	rte_pktmbuf_free_bulk(allocated, kit->piece_buffers);
	check_counts(3, 1);
}

/* 85 bursts of three segments, then a burst with 254 empty segments. */
CASE(packet_with_255_segments, .prepare = kit_use_long_packets) {
	for (int i = 0; i < 85; i++) {
		uint8_t bytes[KIT_FRAME_MAX];

		add_parts("h");
		add_payload(bytes, kit_next_frame(PLAIN, KIT_FRAME_MIN, bytes));
		add_parts("t");
	}
	assert_int_equal(psp.count, PSP_COUNT_MAX);
	send_packet();
	kit_check_complete(PLAIN);
	add_parts("h");
	while (psp.count < PSP_COUNT_MAX)
		add_payload("", 0);
	send_packet();
	add_parts("t/");
	assert_int_equal(kit_counter(COUNTER_NO_BURSTS), 1);
	check_counts(86, 85);
}

/* Packets behind a gap enter the queue of bursts in the round in which the timer expires. */
CASE(expired_gap_releases_packets_at_once) {
	struct psp_packet p;

	for (uint16_t number = 10; number <= 12; number += 2) {
		kit_write_numbered_packet(&p, PLAIN, FRAME_SIZE, number);
		kit_process_packet(&p);
	}
	kit->clock.now += 5 * KIT_MS;
	kit_run_round();
	assert_int_equal(kit_counter(COUNTER_PSP_GAPS), 1);
	assert_int_equal(us_queue(kit->u, US_BURSTS)->count, 1);
	kit_run_round();
	kit_receive(1);
	assert_int_equal(kit->received[PLAIN], 2);
}
