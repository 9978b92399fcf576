/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Upstream traffic out of the bytes of a fuzzer's input: every byte steers what modems and the R-PHY
 * device send. Without faults all of it is good, so that a small change of the input goes a long way.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "upstream_kit.h"

/* What is left of the input; 0 behind its end. */
struct fuzz_input {
	const uint8_t *at, *end;
};

static inline uint8_t input_byte(struct fuzz_input *in) {
	return in->at < in->end ? *in->at++ : 0;
}

static inline uint16_t input_word(struct fuzz_input *in) {
	uint16_t high = input_byte(in);

	return (uint16_t)(high << 8 | input_byte(in));
}

/* What becomes of the next packet. */
enum writer_fault {
	FAULT_NONE,
	FAULT_CHANGE, /* a byte of it */
	FAULT_CUT, /* the end is missing; the IP length says so */
	FAULT_LATE, /* comes behind the one after it */
	FAULT_TWICE,
	FAULTS,
};

#define WRITER_ROW 6000
#define WRITER_PACKET 9300

/* Frames of a stream that are not sent yet. */
struct writer_row {
	uint8_t bytes[WRITER_ROW];
	uint16_t begins[64]; /* of frames */
	uint32_t size, frames;
	uint16_t sequence; /* of segments */
	uint8_t fragment;
};

struct writer {
	struct fuzz_input in;
	const struct service_group *sg;
	struct writer_row rows[KIT_STREAMS];
	struct {
		uint32_t session;
		uint16_t sequence[PSP_FLOW_MAX + 1];
	} sessions[5];
	uint32_t burst_id;
	/* the PSP packet that is open */
	unsigned session; /* index */
	uint8_t flow, count;
	uint8_t table[2 * PSP_COUNT_MAX], data[WRITER_PACKET];
	size_t size;
	enum writer_fault fault;
	uint8_t late[WRITER_PACKET + 600];
	size_t late_size; /* 0: none */
	/* called with each packet, from Ethernet on */
	void (*packet)(void *ctx, const uint8_t *frame, size_t size);
	void *ctx;
};

void writer_open(struct writer *w, const struct service_group *sg);

/* These do one thing each, as the input says. */
void writer_frame(struct writer *w); /* a frame of any kind into a stream's row */
void writer_burst(struct writer *w); /* the front of a row, in a segment where it has to be */
void writer_records(struct writer *w); /* bandwidth requests */
void writer_raw(struct writer *w); /* bytes of the input as payload, PSP packet or frame */

void writer_fault(struct writer *w); /* something with the next packet */

/* Sends the packet that is open. */
void writer_flush(struct writer *w);
