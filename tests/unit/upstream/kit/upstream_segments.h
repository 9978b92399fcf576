/* SPDX-License-Identifier: BSD-3-Clause */
/* Segments of one stream, one after the other, for the programs that test what becomes of them. */
#pragma once

#include "upstream_bench.h"

#define STREAM 4 /* in the clear, cluster 5 */
#define SIZE 120 /* of the Ethernet frames */
#define FRAME (DOCSIS_MAC_HEADER + SIZE + 4)

static struct upstream_bench storage, *const bench = &storage;
static const uint8_t zeroes[64];

/* The next frame of the stream. */
static inline const uint8_t *frame(void) {
	static uint8_t bytes[BENCH_FRAME_MAX];

	assert_int_equal(bench_mac(bench, STREAM, SIZE, bytes), FRAME);
	return bytes;
}

static inline void segment(int pointer, const void *bytes, size_t size) {
	bench_segment(bench, STREAM, pointer, bytes, size);
	bench_settle(bench);
}

static inline void whole(void) {
	segment(0, frame(), FRAME);
}

static inline void finish(void) {
	bench_complete(bench, STREAM);
	bench_close(bench);
}

static inline void dropped(enum drop_reason reason) {
	bench_expect(bench, reason, 1);
	assert_int_equal(bench->u->counters.drops[reason], bench->expected[reason]);
}

static inline void frame_is_lost(enum drop_reason reason) {
	dropped(reason);
	bench->came[STREAM]++;
}

static inline void orphan(void) {
	dropped(DROP_SEGMENT_ORPHAN);
}
