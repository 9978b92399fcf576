/* SPDX-License-Identifier: BSD-3-Clause */
/* Units, which are cut into fragments, for the programs that test what becomes of these and of them. */
#pragma once

#include <string.h>

#include "test.h"
#include "upstream_bench.h"
#include "wire/hcs.h"

#define PLAIN 6 /* stream in the clear, without segment headers */
#define AES 3 /* encrypted, without segment headers */
#define FRAMED 4 /* in the clear, with segment headers */
#define SIZE 120
#define FRAME (DOCSIS_MAC_HEADER + SIZE + 4)
#define FIRST 1
#define LAST 2

static struct upstream_bench storage, *const bench = &storage;
static uint8_t unit[70000]; /* what is cut into fragments */
static size_t unit_size;

static inline void unit_add(unsigned stream, size_t size) {
	unit_size += bench_mac(bench, stream, size, unit + unit_size);
}

/* A frame in the clear, as it stands in a unit, also of a modem with a key. */
static inline void unit_add_clear(unsigned stream, size_t size) {
	struct docsis_up_header h = {.kind = DOCSIS_KIND_PACKET};
	uint8_t ethernet[BENCH_FRAME_MAX];
	uint32_t serial = bench->serial[stream]++;

	bench->size[stream][serial] = (uint16_t)size;
	bench_ethernet(bench, stream, serial, size, ethernet);
	unit_size += bench_frame(bench, bench_streams[stream].modem, &h, ethernet, size,
				 unit + unit_size);
}

static inline size_t fragment(unsigned stream, uint8_t sequence, int flags, const uint8_t *bytes,
			      size_t size, uint8_t *out) {
	const struct security_association *sa =
		&bench->modems[bench_streams[stream].modem].security;
	struct docsis_up_header h = {
		.kind = DOCSIS_KIND_FRAGMENT,
		.privacy = PRIVACY_BP_UP,
		.encrypted = sa->cipher != CIPHER_NONE,
		.key_sequence = sa->key_sequence,
		.sid = bench_streams[stream].sid,
		.fragment_first = (flags & FIRST) != 0,
		.fragment_last = (flags & LAST) != 0,
		.fragment_sequence = sequence & 0xf,
	};

	return bench_frame(bench, bench_streams[stream].modem, &h, bytes, size, out);
}

/* Sends the fragment in a burst or segment of its own. */
static inline void send_fragment(unsigned stream, uint8_t sequence, int flags, const uint8_t *bytes,
				 size_t size) {
	uint8_t out[BENCH_FRAME_MAX];

	size = fragment(stream, sequence, flags, bytes, size, out);
	if (bench_streams[stream].segment_header)
		bench_segment(bench, stream, 0, out, size);
	else
		bench_plain(bench, stream, out, size);
	bench_settle(bench);
}

/* Sends the unit in fragments of `part` bytes. Returns how many they were. */
static inline unsigned send_unit(unsigned stream, size_t part) {
	static uint8_t sequence;
	unsigned count = 0;

	for (size_t at = 0; at < unit_size; at += part, count++) {
		size_t size = at + part < unit_size ? part : unit_size - at;

		send_fragment(stream, sequence++,
			      (at == 0 ? FIRST : 0) | (at + size == unit_size ? LAST : 0),
			      unit + at, size);
	}
	unit_size = 0;
	return count;
}

static inline void setup(void) {
	unit_size = 0;
	bench_open(bench);
}

static inline void dropped(enum drop_reason reason, uint64_t n) {
	bench_expect(bench, reason, n);
	assert_int_equal(bench->u->counters.drops[reason], bench->expected[reason]);
}
