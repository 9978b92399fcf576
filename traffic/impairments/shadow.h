/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the CMTS must make of an upstream that is impaired on purpose. The sender tells what it made:
 * frames, the bursts they lie in, the packets that carry these, and what it did to each. Out of that,
 * by the rules of docs/upstream.md and without a byte of the traffic, follow what is lost and every
 * count of the CMTS.
 *
 *     frames      | 1   | 2        | 3 | 4         | 5   ..       places in a stream, without end
 *     bursts      |  a       |  b       |  c         | ..        each a piece of it
 *     packets     | H a a |a T H b |b T H c |c T ..               header, pieces, trailer
 *
 * Whether a packet is delivered is known when it is sent, so that nothing has to be waited for: packets
 * are judged in the order of their numbers, the bursts of a stream in theirs.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "impairments/impair_shares.h"
#include "model/service_group.h"
#include "pipeline/counters.h"
#include "wire/docsis_mac.h"
#include "wire/psp.h"

struct expected {
	uint64_t lost; /* packets */
	uint64_t corrupted; /* packets that come out with other contents */
	uint64_t foreign; /* of the lost ones, those that come out as something else */
	uint64_t drops[DROP_REASONS]; /* of the CMTS */
	uint64_t counters[COUNTERS]; /* the same, as far as shadow_foretells() */
};

/* What was done to a frame. */
enum shadow_fate {
	FATE_GOOD,
	FATE_HEADER, /* HCS */
	FATE_PAYLOAD, /* contents, and so CRC */
	FATE_CRC, /* nothing but the CRC */
	FATE_WRONG_KEY,
	FATE_UNKNOWN_KEY,
	FATE_CLEAR,
	FATE_SOURCE,
};

struct shadow_frame {
	uint64_t at; /* its place in the stream */
	uint32_t size;
	uint32_t sequence; /* of the packet in it */
	uint16_t header; /* bytes of its MAC header */
	uint16_t sid; /* that it asks for */
	uint8_t packets; /* last fragment: in the unit that it ends */
	uint8_t fragment; /* its sequence number */
	enum docsis_kind kind;
	enum shadow_fate fate;
	bool encrypted;
	bool asks; /* a bandwidth request is in its header */
	bool first, last; /* fragment */
	bool decided; /* its packet came out, or not, for a known reason */
};

/* First in, first out. */
struct shadow_frames {
	struct shadow_frame *all;
	uint32_t size; /* a power of two */
	uint32_t first, count;
};

struct shadow_burst {
	struct shadow_burst *next; /* of its stream */
	uint32_t stream;
	uint32_t number; /* in its stream */
	uint16_t channel;
	uint64_t at; /* its payload's place in the stream */
	uint64_t pointer; /* the place of the first frame that begins in it */
	uint32_t size; /* bytes of frames */
	uint32_t sent; /* of these; less where it is truncated */
	bool has_pointer;
	bool asks; /* in its segment header */
	bool resolved, delivered;
	enum impairment hit;
};

enum shadow_phase {
	SHADOW_BOUNDARY,
	SHADOW_HEADER,
	SHADOW_BODY,
};

#define SHADOW_REMEMBERED 4096 /* packets of a stream of which it is known whether they come out */

struct shadow_stream {
	struct shadow_frames frames; /* made and not judged */
	struct shadow_frames packets; /* in fragmented units, the same */
	struct shadow_burst *first_burst, *last_burst; /* sent and not judged */
	uint64_t made_at; /* end of what was made */
	uint64_t cut_at; /* end of what lies in bursts */
	uint32_t grants; /* filled */
	uint32_t bursts; /* cut */
	uint32_t hit_at; /* number of the burst that was hit last */
	bool hit;
	uint32_t modem; /* index */
	bool framed; /* with segment headers */
	bool has_key;
	/* the CMTS's place in it */
	enum shadow_phase phase;
	struct shadow_frame frame; /* in progress */
	uint32_t missing; /* bytes of its header or of its PDU */
	bool lost;
	bool gap; /* the segment before was missing */
	uint8_t fragment; /* the number of the next one */
	uint32_t fragments; /* that wait */
	uint64_t fallen[SHADOW_REMEMBERED / 64]; /* bit: the packet does not come out as it was */
};

struct shadow_piece {
	struct shadow_burst *burst;
	bool begin, end;
};

/* A session of data. */
struct shadow_session {
	struct shadow_burst *open;
	bool passing;
	bool gap; /* the packet before was missing */
	uint16_t count;
	struct shadow_piece pieces[PSP_COUNT_MAX]; /* of the packet in the making */
};

#define SHADOW_SIDS 16384

struct shadow {
	const struct service_group *sg;
	struct shadow_stream *streams;
	uint32_t stream_count;
	uint64_t (*sids)[SHADOW_SIDS / 64]; /* by channel: those that a modem has */
	struct expected expected;
	bool failed; /* memory was short: nothing is foretold any more */
};

/* Returns 0, or -1 when memory is short. `modem`, `framed` and `has_key` of the streams are to be set then. To
 * be freed by shadow_free() in either case. */
int shadow_create(struct shadow *s, const struct service_group *sg, uint32_t streams);
void shadow_free(struct shadow *s);

/* Whether the counter is among those in struct expected; of the drop reasons, all are. */
bool shadow_foretells(enum counter counter);

bool shadow_knows_sid(const struct shadow *s, uint32_t channel, uint32_t sid);

/* A frame was made: its place is set. With `inner` it is a packet of a unit that goes in fragments. */
void shadow_frame_made(struct shadow *s, uint32_t stream, struct shadow_frame *f, bool inner);

/* The frame in which the byte at this place lies, among those not judged; NULL where there is none. */
const struct shadow_frame *shadow_frame_at(const struct shadow_stream *st, uint64_t place);

/* The next `size` bytes of a stream make a burst. NULL when memory is short; else it stays until it
 * is resolved. */
struct shadow_burst *shadow_burst_made(struct shadow *s, uint32_t stream, uint32_t size);

/* It never arrives. */
void shadow_burst_missing(struct shadow *s, struct shadow_burst *b);

/* A PSP segment was put into the open packet of a session. */
void shadow_piece(struct shadow_session *x, struct shadow_burst *b, bool begin, bool end);

/* The open packet was closed; whether it is delivered in order. */
void shadow_packet(struct shadow *s, struct shadow_session *x, bool delivered);

/* A RNG-REQ on a session for them, and a request record, neither of which is ever impaired. */
void shadow_ranging(struct shadow *s);
void shadow_record(struct shadow *s);

/* Whether the packet comes out as it was made. */
bool shadow_comes(const struct shadow *s, uint32_t stream, uint32_t sequence);

/* For shadow_extract.c. */
void shadow_request(struct shadow *s, const struct shadow_stream *st, uint32_t channel,
		    uint32_t sid);
void shadow_management(struct shadow *s);
void shadow_extract(struct shadow *s, struct shadow_stream *st, const struct shadow_burst *b,
		    bool gap);
/* For shadow_outcome.c: a frame is complete; a frame is behind what was judged. */
void shadow_complete(struct shadow *s, struct shadow_stream *st, const struct shadow_frame *f);
void shadow_settle(struct shadow *s, struct shadow_stream *st, const struct shadow_frame *f);

static inline void shadow_count(struct shadow *s, enum counter which, uint64_t n) {
	s->expected.counters[which] += n;
}

static inline void shadow_drop(struct shadow *s, enum drop_reason reason) {
	s->expected.drops[reason]++;
}

static inline struct shadow_frame *shadow_frames_get(const struct shadow_frames *f, uint32_t i) {
	return &f->all[(f->first + i) & (f->size - 1)];
}

static inline void shadow_frames_pop(struct shadow_frames *f) {
	f->first++;
	f->count--;
}
