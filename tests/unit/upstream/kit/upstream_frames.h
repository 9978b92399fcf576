/* SPDX-License-Identifier: BSD-3-Clause */
/* Frames behind each other in one segment or burst, for the programs that test what becomes of them. */
#pragma once

#include "upstream_cases.h"

#define SIZE 120
#define FRAME (DOCSIS_MAC_HEADER + SIZE + 4)

static uint8_t room[16384];
static size_t used;

static inline void add(const void *bytes, size_t size) {
	assert_true(used + size <= sizeof(room));
	memcpy(room + used, bytes, size);
	used += size;
}

/* The next good frame of the stream. */
static inline void add_frame(unsigned stream) {
	uint8_t bytes[BENCH_FRAME_MAX];

	add(bytes, bench_mac(stream, SIZE, bytes));
}

static inline void go(unsigned stream) {
	bench_send(stream, room, used);
	used = 0;
	bench_settle();
}

static inline void good_frame(unsigned stream) {
	add_frame(stream);
	go(stream);
}
