/* SPDX-License-Identifier: BSD-3-Clause */
/* Bursts on one session, part by part, for the programs that test what becomes of them. */
#pragma once

#include "upstream_bench.h"

#define STREAM 6 /* in the clear, without segment headers, on the SC-QAM channel */
#define SID 0x40
#define FRAME_SIZE 100 /* of the Ethernet frame */

static struct upstream_bench storage, *const bench = &storage;
static struct bench_psp psp;

static inline void header(void) {
	psp_add_header(bench, &psp, SID);
}

static inline void trailer(void) {
	psp_add_trailer(bench, &psp);
}

static inline void payload(const void *bytes, size_t size) {
	psp_add(&psp, false, false, bytes, size);
}

/* A frame that must not arrive. */
static inline void lost_payload(void) {
	static const uint8_t bytes[40];

	payload(bytes, sizeof(bytes));
}

static inline void frame(void) {
	uint8_t bytes[BENCH_FRAME_MAX];
	size_t size = bench_mac(bench, STREAM, FRAME_SIZE, bytes);

	payload(bytes, size);
}

static inline void open_packet(void) {
	psp_open(&psp, BENCH_SC_QAM);
}

static inline void go(void) {
	psp_send(bench, &psp);
	bench_settle(bench);
	open_packet();
}

static inline void whole(void) {
	header();
	frame();
	trailer();
}

static inline void setup(void) {
	bench_open(bench);
	open_packet();
}

static inline void finish(uint64_t bursts, uint64_t good) {
	assert_int_equal(bench_count(bench, COUNTER_BURSTS), bursts);
	assert_int_equal(bench_count(bench, COUNTER_SEGMENTS), good);
	bench_complete(bench, STREAM);
	bench_close(bench);
}
