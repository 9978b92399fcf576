/* SPDX-License-Identifier: BSD-3-Clause */
/* The queue of a service flow: a list of chunks of three packets, a cache line each. A flow that is
 * served after thousands of others finds its next packets beside the last one. */
#pragma once

#include "scheduler/internal.h"

/*
 * Chunks for `packets` in the queues of `flows`. All chunks are full but the first and the last
 * of each flow, and none is empty. N packets of a flow need at most (N + 4) / 3, as two slots
 * may be free at either end.
 */
static inline size_t queue_chunks(size_t packets, size_t flows) {
	size_t free_slots = 2 * (CHUNK_PACKETS - 1) * flows;
	size_t max = (packets + free_slots) / CHUNK_PACKETS + 1;

	return packets < max ? packets : max;
}

static inline struct queued_packet *queue_head(const struct scheduler *s, const struct flow *f) {
	return &s->chunks[f->first].packets[f->head];
}

static inline uint32_t chunk_alloc(struct scheduler *s) {
	uint32_t i = s->free_chunk;

	s->free_chunk = s->chunks[i].next;
	return i;
}

static inline void queue_append(struct scheduler *s, struct flow *f,
				const struct scheduler_arrival *a, int64_t now) {
	if (f->packets == 0) {
		f->first = f->last = chunk_alloc(s);
		f->head = f->tail = 0;
	} else if (f->tail == CHUNK_PACKETS) {
		uint32_t last = f->last;

		f->last = s->chunks[last].next = chunk_alloc(s);
		f->tail = 0;
	}
	s->chunks[f->last].packets[f->tail++] =
		(struct queued_packet){a->packet, (uint32_t)(now >> DELAY_SHIFT), a->bytes};
	f->packets++;
	f->bytes += a->bytes;
	s->queued++;
}

/* Requires a packet. The result is valid until the next packet is queued. */
static inline const struct queued_packet *queue_pop(struct scheduler *s, struct flow *f) {
	uint32_t i = f->first;
	struct chunk *chunk = &s->chunks[i];
	const struct queued_packet *w = &chunk->packets[f->head++];

	f->packets--;
	f->bytes -= w->bytes;
	s->queued--;
	if (f->head == CHUNK_PACKETS || f->packets == 0) {
		f->first = chunk->next;
		f->head = 0;
		chunk->next = s->free_chunk;
		s->free_chunk = i;
	}
	return w;
}
