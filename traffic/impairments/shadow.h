/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Predicts how the CMTS processes an impaired upstream. The sender reports what it makes: frames, the
 * bursts that carry them, the packets that carry bursts, and each fault. From these, by the rules of
 * docs/upstream.md and without reading traffic, the shadow derives the lost packets and the counts of the
 * CMTS.
 *
 *     frames      | 1   | 2        | 3 | 4         | 5   ..       positions in a stream, which never wrap
 *     bursts      |  a       |  b       |  c         | ..        each a part of the stream
 *     packets     | H a a |a T H b |b T H c |c T ..               header, parts of bursts, trailer
 *
 * The sender knows whether a packet will be delivered, so nothing has to wait. Packets are processed in the
 * order of their numbers, and bursts in the order of their stream.
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
	uint64_t corrupted; /* packets delivered with other contents */
	uint64_t foreign; /* of the lost ones, those delivered as something else */
	uint64_t drops[DROP_REASONS]; /* predicted drops of the CMTS */
	uint64_t counters[COUNTERS]; /* predicted counters, where shadow_predicts() is true */
};

/* The fault of a frame. */
enum shadow_fate {
	FATE_GOOD,
	FATE_HEADER, /* wrong HCS */
	FATE_PAYLOAD, /* wrong contents and CRC */
	FATE_CRC, /* wrong CRC only */
	FATE_WRONG_KEY,
	FATE_UNKNOWN_KEY,
	FATE_CLEAR,
	FATE_SOURCE,
};

struct shadow_frame {
	uint64_t at; /* position in the stream */
	uint32_t size;
	uint32_t sequence; /* of its packet */
	uint16_t header; /* bytes of the MAC header */
	uint16_t sid; /* SID of its request */
	uint8_t packets; /* last fragment: packets in its unit */
	uint8_t fragment; /* fragment sequence number */
	enum docsis_kind kind;
	enum shadow_fate fate;
	bool encrypted;
	bool request; /* its header has a bandwidth request */
	bool first, last; /* fragment */
	bool decided; /* the CMTS has delivered or dropped its packet */
};

/* A FIFO. */
struct shadow_frames {
	struct shadow_frame *all;
	uint32_t size; /* capacity, a power of two */
	uint32_t first, count;
};

struct shadow_burst {
	struct shadow_burst *next; /* next burst of the stream */
	uint32_t stream;
	uint32_t number; /* in its stream */
	uint16_t channel;
	uint64_t at; /* position of its payload in the stream */
	uint64_t pointer; /* position of the first frame that begins in it */
	uint32_t size; /* bytes of frames */
	uint32_t sent; /* bytes sent; less than `size` if truncated */
	bool has_pointer;
	bool request; /* its segment header has a request */
	bool resolved; /* whether the CMTS gets it is known: it is `delivered` or not */
	bool delivered;
	enum impairment hit;
};

enum shadow_phase {
	SHADOW_BOUNDARY,
	SHADOW_HEADER,
	SHADOW_BODY,
};

#define SHADOW_REMEMBERED 4096 /* packets of a stream whose outcome is kept */

struct shadow_stream {
	struct shadow_frames frames; /* made and not processed */
	struct shadow_frames packets; /* the same for packets in fragmented units */
	struct shadow_burst *first_burst, *last_burst; /* sent and not processed */
	uint64_t made_at; /* end of the frames made */
	uint64_t bursts_at; /* end of the bursts made */
	uint32_t grants; /* grants filled */
	uint32_t bursts; /* bursts made */
	uint32_t hit_at; /* number of the burst that was hit last */
	bool hit;
	uint32_t modem; /* index */
	bool framed; /* has segment headers */
	bool has_key;
	/* state of the CMTS for this stream */
	enum shadow_phase phase;
	struct shadow_frame frame; /* frame in progress */
	uint32_t missing; /* missing bytes of its header or PDU */
	bool lost;
	bool gap; /* the segment before is missing */
	uint8_t fragment; /* expected fragment number */
	uint32_t fragments; /* pending fragments */
	uint64_t failures[SHADOW_REMEMBERED / 64]; /* bit: the packet is lost or changed */
};

struct shadow_piece {
	struct shadow_burst *burst;
	bool begin, end;
};

/* A data session. */
struct shadow_session {
	/* burst whose header came and whose trailer did not; NULL: none */
	struct shadow_burst *open;
	bool skipping; /* the parts up to the next header are of a burst that is already counted as dropped */
	bool gap; /* the packet before is missing */
	uint16_t count;
	struct shadow_piece pieces[PSP_COUNT_MAX]; /* of the open packet */
};

#define SHADOW_SIDS 16384

struct shadow {
	const struct service_group *sg;
	struct shadow_stream *streams;
	uint32_t stream_count;
	uint64_t (*sids)[SHADOW_SIDS / 64]; /* by channel: SIDs of modems */
	struct expected expected;
	bool failed; /* memory was short: no predictions any more */
};

/* Returns 0, or -1 if memory is short. The caller must then set `modem`, `framed` and `has_key` of
 * the streams, and frees it with shadow_free() in either case. */
int shadow_create(struct shadow *s, const struct service_group *sg, uint32_t streams);
void shadow_free(struct shadow *s);

/* Whether struct expected predicts the counter. It predicts every drop reason. */
bool shadow_predicts(enum counter counter);

bool shadow_knows_sid(const struct shadow *s, uint32_t channel, uint32_t sid);

/* Records a frame and sets its position. `inner`: it is a packet in a fragmented unit. */
void shadow_frame_made(struct shadow *s, uint32_t stream, struct shadow_frame *f, bool inner);

/* The frame that contains this position, among those not processed; NULL: none. */
const struct shadow_frame *shadow_frame_at(const struct shadow_stream *st, uint64_t position);

/* Records the next `size` bytes of a stream as a burst, which is valid until it is resolved.
 * Returns NULL if memory is short. */
struct shadow_burst *shadow_burst_made(struct shadow *s, uint32_t stream, uint32_t size);

/* Resolves a burst that is not sent, which may free it. */
void shadow_burst_missing(struct shadow *s, struct shadow_burst *b);

/* Records a PSP segment in the open packet of a session. */
void shadow_piece(struct shadow_session *x, struct shadow_burst *b, bool begin, bool end);

/* Processes the closed packet; `delivered`: whether it is delivered in order. May free bursts that end in it. */
void shadow_packet(struct shadow *s, struct shadow_session *x, bool delivered);

/* Record a RNG-REQ on a ranging session, and a request record; neither is ever impaired. */
void shadow_ranging(struct shadow *s);
void shadow_record(struct shadow *s);

/* Whether the packet is delivered unchanged. */
bool shadow_delivers(const struct shadow *s, uint32_t stream, uint32_t sequence);

/* For the files of the shadow only. Count a request in a frame header, and a management message. */
void shadow_request(struct shadow *s, const struct shadow_stream *st, uint32_t channel,
		    uint32_t sid);
void shadow_management(struct shadow *s);
/* Defined in shadow_extract.c: processes the next delivered burst of a stream. `gap`: bursts before it are
 * missing. */
void shadow_extract(struct shadow *s, struct shadow_stream *st, const struct shadow_burst *b,
		    bool gap);
/* Defined in shadow_outcome.c: processes a complete frame; settles a frame before the current position. */
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
