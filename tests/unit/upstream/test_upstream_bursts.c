/* SPDX-License-Identifier: BSD-3-Clause */
/* Bursts out of the segments of PSP: each reason to drop one. */
#include "test.h"

#include "fixture.h"
#include "upstream_bursts.h"

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

/* Uncorrectable codewords of complete bursts, where the trailer says that it has counted them. */
static void codewords(void **state) {
	struct uepi_trailer t = {.flags = UEPI_FEC_VALID, .fec_uncorrectable = 7};
	uint8_t bytes[UEPI_TRAILER_MAX];

	(void)state;
	setup();
	for (int i = 0; i < 3; i++) {
		header();
		frame();
		if (i == 2)
			t.flags = 0;
		psp_add(&psp, false, true, bytes, uepi_trailer_write(UEPI_SC_QAM, &t, bytes));
	}
	/* of a burst without a beginning nothing is believed */
	t.flags = UEPI_FEC_VALID;
	psp_add(&psp, false, true, bytes, uepi_trailer_write(UEPI_SC_QAM, &t, bytes));
	bench_expect(bench, DROP_BURST_HEADLESS, 1);
	go();
	assert_int_equal(bench_count(bench, COUNTER_FEC_UNCORRECTABLE), 2 * 7);
	finish(4, 3);
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

/* What a trailer says of FEC counts where it says that it is valid. */
static void codewords_that_are_not_valid(void **state) {
	struct uepi_trailer t = {.flags = UEPI_SNR_VALID, .fec_uncorrectable = 3};
	uint8_t bytes[UEPI_TRAILER_MAX];

	(void)state;
	setup();
	for (unsigned valid = 0; valid < 2; valid++) {
		t.flags |= valid ? UEPI_FEC_VALID : 0;
		header();
		frame();
		psp_add(&psp, false, true, bytes, uepi_trailer_write(UEPI_SC_QAM, &t, bytes));
		go();
		assert_int_equal(bench_count(bench, COUNTER_FEC_UNCORRECTABLE), valid ? 3 : 0);
	}
	finish(2, 2);
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
		cmocka_unit_test(never_ends),
		cmocka_unit_test(unused_grants),
		cmocka_unit_test(unknown_sid),
		cmocka_unit_test(codewords),
		cmocka_unit_test(codewords_that_are_not_valid),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
