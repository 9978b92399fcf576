/* SPDX-License-Identifier: BSD-3-Clause */
/* Writes upstream traffic from the input of a fuzz target: each byte controls what modems and the
 * R-PHY device send. Without faults all of it is valid, so that small changes have large
 * effects. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "upstream_kit.h"

/* The remaining input. 0 behind its end. */
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

/* The fault of the next packet. */
enum writer_fault {
	FAULT_NONE,
	FAULT_DAMAGED, /* a byte is changed */
	FAULT_TRUNCATED, /* truncated, with a matching IP length */
	FAULT_LATE, /* sent behind the next packet */
	FAULT_DUPLICATED,
	FAULTS,
};

#define WRITER_QUEUE 6000 /* bytes */
#define WRITER_PACKET 9300 /* bytes */

/* Frames of a stream that are not sent yet. */
struct writer_queue {
	uint8_t bytes[WRITER_QUEUE];
	uint16_t begins[64]; /* offsets of the frames */
	uint32_t size, frames;
	uint16_t sequence; /* of segments */
	uint8_t fragment;
};

struct writer {
	struct fuzz_input in;
	const struct service_group *sg;
	struct writer_queue queues[KIT_STREAMS];
	struct {
		uint32_t session;
		uint16_t sequence[PSP_FLOW_MAX + 1];
	} sessions[5];
	uint32_t burst_id;
	/* the PSP packet that is being built */
	unsigned session; /* index in `sessions` */
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

/* The caller has zeroed `w`, and sets `in`, `packet` and `ctx`. */
void writer_open(struct writer *w, const struct service_group *sg);

/* Each does one thing, as the input says. */
void writer_frame(struct writer *w); /* adds a frame of any kind to the queue of a stream */
void writer_burst(struct writer *w); /* sends the front of a queue, in a segment if needed */
void writer_records(struct writer *w); /* bandwidth requests */
void writer_raw(struct writer *w); /* bytes of the input as payload, PSP packet or frame */

void writer_fault(struct writer *w); /* chooses the fault of the next packet */

/* Sends the PSP packet that is being built, if any. */
void writer_flush(struct writer *w);
