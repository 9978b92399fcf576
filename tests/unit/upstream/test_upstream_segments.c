/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments of continuous concatenation and fragmentation: headers, order and clusters. */
#include "test.h"

#include <string.h>

#include "fixture.h"
#include "upstream_segments.h"

static void every_truncation(void **state) {
	uint8_t bytes[SEGMENT_HEADER_SIZE] = {0};

	(void)state;
	bench_open(bench);
	segment_header_write(&(struct segment_header){.sid_cluster = 5}, bytes);
	for (size_t size = 1; size < SEGMENT_HEADER_SIZE; size++) {
		bench_plain(bench, STREAM, bytes, size);
		bench_expect(bench, DROP_SEGMENT_TRUNCATED, 1);
	}
	bench_settle(bench);
	whole();
	finish();
}

static void every_bit_of_the_header(void **state) {
	struct segment_header h = {.pointer_valid = true, .sid_cluster = 5, .sequence = 1};
	uint8_t bytes[SEGMENT_HEADER_SIZE];

	(void)state;
	bench_open(bench);
	segment_header_write(&h, bytes);
	for (unsigned bit = 0; bit < 8 * SEGMENT_HEADER_SIZE; bit++) {
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
		bench_plain(bench, STREAM, bytes, sizeof(bytes));
		bench_expect(bench, DROP_SEGMENT_HCS, 1);
		bytes[bit / 8] ^= (uint8_t)(1 << bit % 8);
	}
	bench_settle(bench);
	whole();
	finish();
}

/* The header in pieces, cut at every byte. */
static void header_over_pieces(void **state) {
	(void)state;
	bench_open(bench);
	for (unsigned cut = 1; cut <= SEGMENT_HEADER_SIZE + 1; cut++) {
		struct segment_header h = {.pointer_valid = true, .sid_cluster = 5};
		uint8_t bytes[SEGMENT_HEADER_SIZE + FRAME];
		struct bench_psp p;

		h.sequence = bench->segment[STREAM]++;
		segment_header_write(&h, bytes);
		memcpy(bytes + SEGMENT_HEADER_SIZE, frame(), FRAME);
		psp_open(&p, BENCH_SC_QAM);
		psp_add_header(bench, &p, bench_streams[STREAM].sid);
		for (unsigned i = 0; i < cut; i++)
			psp_add(&p, false, false, bytes + i, 1);
		psp_add(&p, false, false, bytes + cut, sizeof(bytes) - cut);
		psp_add_trailer(bench, &p);
		psp_send(bench, &p);
		bench_settle(bench);
	}
	finish();
}

/* Of a segment that waits no buffer is kept that had nothing but the header. */
static void header_in_a_packet_of_its_own(void **state) {
	struct segment_header h = {.pointer_valid = true, .sid_cluster = 5, .sequence = 1};
	uint8_t bytes[SEGMENT_HEADER_SIZE];
	struct bench_psp p;

	(void)state;
	bench_open(bench);
	whole();
	h.sequence = 2; /* ahead */
	segment_header_write(&h, bytes);
	psp_open(&p, BENCH_SC_QAM);
	psp_add_header(bench, &p, bench_streams[STREAM].sid);
	psp_add(&p, false, false, bytes, sizeof(bytes));
	psp_send(bench, &p);
	psp_open(&p, BENCH_SC_QAM);
	psp_add(&p, false, false, frame(), FRAME);
	psp_add_trailer(bench, &p);
	psp_send(bench, &p);
	bench_settle(bench);
	assert_int_equal(upstream_held(bench->u, UNIT_SEGMENT), 1);
	assert_int_equal(bench->u->holds.buffers[HOLD_POOL_PACKETS], 1);
	assert_int_equal(rte_mempool_in_use_count(bench->packets), 1);
	bench_after(bench, 10 * BENCH_MS);
	finish();
}

static void clusters(void **state) {
	struct segment_header h = {.sequence = 1, .pointer_valid = true};
	uint8_t bytes[BENCH_FRAME_MAX];
	size_t size;

	(void)state;
	bench_open(bench);
	whole();
	for (uint8_t cluster = 0; cluster < 8; cluster++) {
		h.sid_cluster = cluster;
		if (cluster == 5)
			continue;
		bench_segment_as(bench, STREAM, &h, zeroes, 1);
		bench_expect(bench, DROP_SEGMENT_CLUSTER, 1);
	}
	/* The SID of one cluster with the header of another: the header says whose stream it is. */
	size = bench_mac(bench, 1, SIZE, bytes);
	h = (struct segment_header){.pointer_valid = true, .sid_cluster = 3, .sequence = 77};
	bench_segment_as(bench, 0, &h, bytes, size);
	size = bench_mac(bench, 0, SIZE, bytes);
	h = (struct segment_header){.pointer_valid = true, .sid_cluster = 0, .sequence = 12};
	bench_segment_as(bench, 0, &h, bytes, size);
	bench_settle(bench);
	bench_complete(bench, 0);
	bench_complete(bench, 1);
	finish();
}

/* Two clusters of a flow: the frames in progress of one know nothing of the other's. */
static void clusters_take_turns(void **state) {
	uint8_t bytes[2][BENCH_FRAME_MAX];
	size_t size;

	(void)state;
	bench_open(bench);
	for (unsigned s = 0; s < 2; s++)
		size = bench_mac(bench, s, 300, bytes[s]);
	for (unsigned s = 0; s < 2; s++)
		bench_segment(bench, s, 0, bytes[s], 200);
	bench_settle(bench);
	assert_int_equal(upstream_held(bench->u, UNIT_FRAME), 2);
	for (unsigned s = 0; s < 2; s++)
		bench_segment(bench, s, BENCH_NO_POINTER, bytes[s] + 200, size - 200);
	bench_settle(bench);
	bench_complete(bench, 0);
	bench_complete(bench, 1);
	bench_close(bench);
}

static void numbers_make_the_order(void **state) {
	uint8_t bytes[BENCH_FRAME_MAX];
	struct segment_header h = {.sid_cluster = 5};

	(void)state;
	bench_open(bench);
	bench->segment[STREAM] = 0x1ffe;
	whole();
	memcpy(bytes, frame(), FRAME);
	/* three segments: the last, the first, the middle */
	for (unsigned i = 0; i < 3; i++) {
		static const size_t begins[] = {100, 0, 50}, ends[] = {FRAME, 50, 100};

		h.sequence = (uint16_t)(begins[i] / 50 - 1) & 0x1fff;
		h.pointer_valid = begins[i] == 0;
		bench_segment_as(bench, STREAM, &h, bytes + begins[i], ends[i] - begins[i]);
		bench_settle(bench);
		assert_int_equal(upstream_held(bench->u, UNIT_SEGMENT), i == 2 ? 0 : 1);
	}
	assert_int_equal(bench_count(bench, COUNTER_SEGMENTS_REORDERED), 2);
	h.sequence = 0;
	bench_segment_as(bench, STREAM, &h, bytes, 10);
	bench_expect(bench, DROP_SEGMENT_DUPLICATE, 1);
	h.sequence = 0x1000;
	bench_segment_as(bench, STREAM, &h, bytes, 10);
	bench_settle(bench);
	/* 4,094 ahead: everything between was given up */
	assert_int_equal(bench_count(bench, COUNTER_SEGMENTS_MISSING), 0xffe);
	orphan();
	h.sequence = 0xfff;
	bench_segment_as(bench, STREAM, &h, bytes, 10);
	bench_expect(bench, DROP_SEGMENT_LATE, 1);
	bench_settle(bench);
	finish();
}

static void window_and_time(void **state) {
	(void)state;
	bench_open(bench);
	whole();
	bench->segment[STREAM] += 63; /* 63 ahead of the first that is missing */
	whole();
	assert_int_equal(upstream_held(bench->u, UNIT_SEGMENT), 1);
	/* twice as long as PSP packets */
	bench_after(bench, 10 * BENCH_MS - 1);
	assert_int_equal(upstream_held(bench->u, UNIT_SEGMENT), 1);
	bench_after(bench, 1);
	assert_int_equal(upstream_held(bench->u, UNIT_SEGMENT), 0);
	assert_int_equal(bench_count(bench, COUNTER_SEGMENT_GAPS), 1);
	assert_int_equal(bench_count(bench, COUNTER_SEGMENTS_MISSING), 63);
	bench->segment[STREAM] += 64;
	whole();
	assert_int_equal(upstream_held(bench->u, UNIT_SEGMENT), 0);
	assert_int_equal(bench_count(bench, COUNTER_SEGMENT_GAPS), 2);
	assert_int_equal(bench_count(bench, COUNTER_SEGMENTS_MISSING), 63 + 64);
	finish();
}

static void modem_begins_anew(void **state) {
	struct segment_header h = {.sid_cluster = 5, .pointer_valid = true};

	(void)state;
	bench_open(bench);
	bench->segment[STREAM] = 3000;
	whole();
	for (uint16_t i = 0; i < 64; i++) {
		h.sequence = i;
		bench_segment_as(bench, STREAM, &h, zeroes, 20);
		bench_settle(bench);
	}
	bench_expect(bench, DROP_SEGMENT_LATE, 64);
	assert_int_equal(bench_count(bench, COUNTER_SEGMENT_RESYNCS), 0);
	bench->segment[STREAM] = 64;
	whole();
	assert_int_equal(bench_count(bench, COUNTER_SEGMENT_RESYNCS), 1);
	finish();
}

/* The frame that was in progress does not go on with what comes then. */
static void a_frame_when_a_modem_begins_anew(void **state) {
	struct segment_header h = {.sid_cluster = 5, .pointer_valid = true};

	(void)state;
	bench_open(bench);
	bench->segment[STREAM] = 3000;
	segment(0, frame(), FRAME / 2);
	for (uint16_t i = 0; i < 64; i++) {
		h.sequence = i;
		bench_segment_as(bench, STREAM, &h, zeroes, 20);
		bench_settle(bench);
	}
	bench_expect(bench, DROP_SEGMENT_LATE, 64);
	assert_int_equal(upstream_held(bench->u, UNIT_FRAME), 1);
	bench->segment[STREAM] = 64;
	whole();
	frame_is_lost(DROP_FRAME_GAP);
	assert_int_equal(bench_count(bench, COUNTER_SEGMENT_RESYNCS), 1);
	finish();
}

int main(void) {
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_truncation),
		cmocka_unit_test(every_bit_of_the_header),
		cmocka_unit_test(header_over_pieces),
		cmocka_unit_test(header_in_a_packet_of_its_own),
		cmocka_unit_test(clusters),
		cmocka_unit_test(clusters_take_turns),
		cmocka_unit_test(numbers_make_the_order),
		cmocka_unit_test(window_and_time),
		cmocka_unit_test(modem_begins_anew),
		cmocka_unit_test(a_frame_when_a_modem_begins_anew),
	};

	return cmocka_run_group_tests(tests, NULL, fixture_stop);
}
