/* SPDX-License-Identifier: BSD-3-Clause */
/* Predicts how the CMTS receives PSP packets, bursts and segments, by docs/upstream.md. The sender reports packets in
 * the order of their numbers (shadow.h). shadow_extract.c predicts the frames. */
#include <stdlib.h>

#include "impairments/shadow.h"

static void segment_missing(struct shadow *s, struct shadow_stream *st) {
	shadow_count(s, COUNTER_SEGMENTS_MISSING, 1);
	shadow_count(s, COUNTER_SEGMENT_GAPS, !st->gap);
	st->gap = true;
}

/* Processes the next burst of a stream. Settles the frames that end in it. */
static void shadow_process(struct shadow *s, struct shadow_stream *st,
			   const struct shadow_burst *b) {
	uint64_t end = b->at + b->size;

	if (b->delivered) {
		bool gap = st->gap;

		st->gap = false;
		shadow_extract(s, st, b, gap);
	} else if (st->framed) {
		segment_missing(s, st);
	}
	while (st->frames.count > 0) {
		const struct shadow_frame *f = shadow_frames_get(&st->frames, 0);

		if (f->at + f->size > end)
			break;
		shadow_settle(s, st, f);
		shadow_frames_pop(&st->frames);
	}
}

/* Records whether the CMTS gets a burst. Processes the bursts of its stream up to the first that is not
 * resolved, and frees them. */
static void resolve(struct shadow *s, struct shadow_burst *b, bool delivered) {
	struct shadow_stream *st = &s->streams[b->stream];

	b->resolved = true;
	b->delivered = delivered;
	while (st->first_burst != NULL && st->first_burst->resolved) {
		b = st->first_burst;
		st->first_burst = b->next;
		if (!s->failed)
			shadow_process(s, st, b);
		free(b);
	}
}

void shadow_burst_missing(struct shadow *s, struct shadow_burst *b) {
	resolve(s, b, false);
}

/* Processes a burst with header and trailer. Returns whether the CMTS accepts it as a segment. */
static bool segment_good(struct shadow *s, const struct shadow_burst *b) {
	if (b->hit == IMPAIR_UNKNOWN_SID) {
		shadow_drop(s, DROP_UNKNOWN_SID);
		return false;
	}
	shadow_count(s, COUNTER_SEGMENTS, 1);
	if (b->hit == IMPAIR_SEGMENT_HEADER_ERROR) {
		shadow_drop(s, DROP_SEGMENT_HCS);
		return false;
	}
	if (b->has_pointer && b->pointer > b->at + b->sent) {
		shadow_drop(s, DROP_SEGMENT_POINTER);
		return false;
	}
	if (b->request)
		shadow_count(s,
			     s->sg->upstream_channels[b->channel].request_session != 0
				     ? COUNTER_REQUESTS_REPEATED
				     : COUNTER_REQUESTS,
			     1);
	return true;
}

/* Processes the UEPI header of a burst, which opens the burst unless the header is damaged. */
static void burst_begin(struct shadow *s, struct shadow_session *x, struct shadow_burst *b) {
	shadow_count(s, COUNTER_BURSTS, 1);
	x->skipping = b->hit == IMPAIR_UEPI_HEADER_ERROR;
	x->open = x->skipping ? NULL : b;
	if (x->skipping)
		shadow_drop(s, DROP_BURST_HEADER);
}

/* Processes a part of a burst that is not open. Counts the burst and its drop with its first such part, unless it is
 * already counted. */
static void headless(struct shadow *s, struct shadow_session *x) {
	if (x->skipping)
		return;
	shadow_count(s, COUNTER_BURSTS, 1);
	shadow_drop(s, DROP_BURST_HEADLESS);
	x->skipping = true;
}

/* Processes the UEPI trailer of a burst, and resolves the burst. */
static void burst_end(struct shadow *s, struct shadow_session *x, struct shadow_burst *b) {
	bool open = x->open == b;

	x->open = NULL;
	if (!open)
		headless(s, x);
	if (open && b->hit == IMPAIR_TRAILER_ERROR) {
		shadow_drop(s, DROP_BURST_TRAILER);
		open = false;
	}
	resolve(s, b, open && segment_good(s, b));
}

void shadow_piece(struct shadow_session *x, struct shadow_burst *b, bool begin, bool end) {
	x->pieces[x->count++] = (struct shadow_piece){b, begin, end};
}

/* The session's packet is lost or late: drops the open burst. Resolves the bursts that end in the packet; others
 * resolve at their trailer. */
static void packet_missing(struct shadow *s, struct shadow_session *x) {
	shadow_count(s, COUNTER_PSP_MISSING, 1);
	shadow_count(s, COUNTER_PSP_GAPS, !x->gap);
	x->gap = true;
	if (x->open != NULL) {
		shadow_drop(s, DROP_BURST_GAP);
		x->open = NULL;
		x->skipping = true;
	}
	for (unsigned i = 0; i < x->count; i++) {
		if (x->pieces[i].end && x->pieces[i].burst != NULL)
			resolve(s, x->pieces[i].burst, false);
	}
}

void shadow_packet(struct shadow *s, struct shadow_session *x, bool delivered) {
	if (!delivered) {
		packet_missing(s, x);
		x->count = 0;
		return;
	}
	x->gap = false;
	shadow_count(s, COUNTER_PSP_PACKETS, 1);
	shadow_count(s, COUNTER_PSP_SEGMENTS, x->count);
	for (unsigned i = 0; i < x->count; i++) {
		struct shadow_piece *p = &x->pieces[i];

		if (p->burst == NULL)
			continue;
		if (p->begin)
			burst_begin(s, x, p->burst);
		else if (p->end)
			burst_end(s, x, p->burst);
		else if (x->open != p->burst)
			headless(s, x);
	}
	x->count = 0;
}
