/* SPDX-License-Identifier: BSD-3-Clause */
/* Models docs/upstream.md for segments and frame headers, with positions instead of bytes. */
#include "impairments/shadow.h"

#include <rte_common.h>

/* The CMTS' read position in a burst. */
struct cursor {
	const struct shadow_burst *burst;
	uint64_t at;
	uint64_t end;
	bool ahead; /* the pointer is ahead */
	bool begun; /* a frame may begin here */
	bool used;
};

/* Drops the frame in progress. */
static void end_frame(struct shadow *s, struct shadow_stream *st, enum drop_reason reason) {
	if (st->phase != SHADOW_BOUNDARY)
		shadow_drop(s, reason);
	st->phase = SHADOW_BOUNDARY;
}

static void skip_to(struct shadow *s, struct cursor *p, uint64_t to) {
	shadow_count(s, COUNTER_RESYNC_BYTES, to - p->at);
	p->at = to;
}

/* Skips to the pointer, or to the next burst. */
static void lose(struct shadow *s, struct shadow_stream *st, struct cursor *p) {
	st->phase = SHADOW_BOUNDARY;
	st->lost = st->framed && !p->ahead;
	skip_to(s, p, p->ahead ? p->burst->pointer : p->end);
}

/* The header of the frame in progress is complete; this burst has `here` bytes of it. */
static void shadow_header_done(struct shadow *s, struct shadow_stream *st, struct cursor *p,
			       uint32_t here) {
	const struct shadow_frame *f = &st->frame;

	if (f->fate == FATE_HEADER) {
		shadow_drop(s, DROP_FRAME_HCS);
		shadow_count(s, COUNTER_RESYNC_BYTES, here);
		lose(s, st, p);
		return;
	}
	if (f->request)
		shadow_request(s, st, p->burst->channel, f->sid);
	st->phase = SHADOW_BOUNDARY;
	switch (f->kind) {
	case DOCSIS_KIND_REQUEST:
	case DOCSIS_KIND_QUEUE_REQUEST: shadow_count(s, COUNTER_REQUEST_FRAMES, 1); break;
	case DOCSIS_KIND_CONCATENATION: shadow_count(s, COUNTER_CONCATENATIONS, 1); break;
	default:
		st->phase = SHADOW_BODY;
		st->missing = f->size - f->header;
		break;
	}
}

static void shadow_frame_begin(struct shadow *s, struct shadow_stream *st, struct cursor *p) {
	const struct shadow_frame *f = shadow_frame_at(st, p->at);

	if (f == NULL || f->at != p->at) { /* unpredictable: a bug of the caller */
		s->failed = true;
		p->at = p->end;
		return;
	}
	shadow_count(s, COUNTER_FRAMES, 1);
	p->used = true;
	st->frame = *f;
	if (p->end - p->at < f->header) {
		st->phase = SHADOW_HEADER;
		st->missing = (uint32_t)(f->header - (p->end - p->at));
		p->at = p->end;
		return;
	}
	p->at += f->header;
	shadow_header_done(s, st, p, f->header);
}

static void shadow_boundary(struct shadow *s, struct shadow_stream *st, struct cursor *p) {
	if (p->ahead) {
		skip_to(s, p, p->burst->pointer);
		p->ahead = false;
		p->begun = true;
	} else if (p->begun) {
		shadow_frame_begin(s, st, p);
	} else {
		s->failed = true; /* the sender leaves no bytes outside frames */
		st->lost = true;
	}
}

static void proceed(struct shadow *s, struct shadow_stream *st, struct cursor *p) {
	uint32_t part = (uint32_t)RTE_MIN((uint64_t)st->missing, p->end - p->at);
	uint64_t to_pointer = p->burst->pointer - p->at;

	if (p->ahead && st->phase == SHADOW_BODY && to_pointer != st->missing) {
		end_frame(s, st, DROP_FRAME_POINTER);
		lose(s, st, p);
		return;
	}
	p->used = true;
	p->at += part;
	st->missing -= part;
	if (st->missing > 0)
		return;
	if (st->phase == SHADOW_HEADER) {
		shadow_header_done(s, st, p, part);
		return;
	}
	st->phase = SHADOW_BOUNDARY;
	shadow_complete(s, st, &st->frame);
}

void shadow_extract(struct shadow *s, struct shadow_stream *st, const struct shadow_burst *b,
		    bool gap) {
	struct cursor p = {
		.burst = b,
		.at = b->at,
		.end = b->at + b->sent,
		.ahead = b->has_pointer,
		.begun = !st->framed,
	};

	if (gap) {
		end_frame(s, st, DROP_FRAME_GAP);
		st->lost = true;
	}
	if (!st->framed || b->has_pointer)
		st->lost = false;
	while (p.at < p.end && !st->lost) {
		if (st->phase == SHADOW_BOUNDARY)
			shadow_boundary(s, st, &p);
		else
			proceed(s, st, &p);
	}
	if (!st->framed)
		end_frame(s, st, DROP_FRAME_TRUNCATED);
	if (st->lost && !p.used)
		shadow_drop(s, DROP_SEGMENT_ORPHAN);
	else
		shadow_count(s, COUNTER_EXTRACTED, 1);
}
