/* SPDX-License-Identifier: BSD-3-Clause */
/* Channel access: which channel is free first, and what a packet costs on it. */
#pragma once

#include <string.h>

#include "scheduler/internal.h"

/* The low bits of free_at[] are the channel's index. */
#define CHANNEL_MASK (SCHEDULER_MAX_CHANNELS - 1)

/* Four entries of free_at[]. */
typedef int64_t int64x4 __attribute__((vector_size(32)));

/* Lowers `best` to the entries. An entry below `floors` counts as `floors`. */
static inline void int64x4_min(int64x4 *best, const int64_t *at, const int64x4 *floors) {
	int64x4 entries, mask;

	memcpy(&entries, at, sizeof(entries));
	mask = entries > *floors;
	entries = (entries & mask) | (*floors & ~mask);
	mask = entries < *best;
	*best = (entries & mask) | (*best & ~mask);
}

/* The least entry of the run. An entry in the past counts as `idle`, the index of the first
 * channel included, plus its offset in the run. So the first idle channel wins. */
static inline int64_t run_free(const int64_t *at, uint32_t n, int64_t idle) {
	const int64x4 first = {idle, idle + 1, idle + 2, idle + 3};
	int64x4 best = {INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
	int64x4 floors = first;

	if (n < 4) {
		int64_t lowest = more(at[0], idle);

		lowest = n > 1 ? less(lowest, more(at[1], idle + 1)) : lowest;
		return n > 2 ? less(lowest, more(at[2], idle + 2)) : lowest;
	}
	for (uint32_t i = 0; i + 4 <= n; i += 4, floors += 4)
		int64x4_min(&best, at + i, &floors);
	if (n % 4 != 0) { /* the last four; some of them twice */
		floors = first + (n - 4);
		int64x4_min(&best, at + n - 4, &floors);
	}
	return less(less(best[0], best[1]), less(best[2], best[3]));
}

/* The entry of free_at[], or the present if that is past, of the group's channel that is free
 * first. Of several idle channels, the lowest index wins. */
static inline int64_t first_free(const struct scheduler *s, const struct group *g, int64_t now) {
	const int64_t idle = now & ~(int64_t)CHANNEL_MASK;
	int64_t best = INT64_MAX;

	for (uint32_t r = 0; r < g->run_count; r++) {
		uint32_t from = g->runs[r].from;

		best = less(best, run_free(&s->free_at[from], g->runs[r].count, idle + from));
	}
	return best;
}

/* Bytes that a DOCSIS frame of `bytes` takes on the channel if its DEPI frame ends within it. */
uint32_t channel_split(struct channel *c, uint32_t bytes, int64_t now);

/* Bytes that a DOCSIS frame of `bytes` takes on the channel, including DEPI. */
static inline uint32_t channel_bytes(struct channel *c, uint32_t bytes, int64_t now) {
	const uint32_t segment = bytes + c->depi.entry_bytes;

	if (c->depi.capacity == 0)
		return bytes;
	if (segment + c->depi.entry_bytes >= c->space || now - c->opened >= c->flush ||
	    c->segments + 1 == c->depi.max_segments)
		return channel_split(c, bytes, now);
	c->space -= segment;
	c->segments++;
	return segment;
}

/* Adds `bytes` to the channel's work. Returns when it will be done, in ticks. */
static inline int64_t channel_charge(struct scheduler *s, uint32_t channel, uint32_t bytes,
				     int64_t now) {
	struct channel *c = &s->channels[channel];

	c->busy_until = (c->busy_until > now ? c->busy_until : now) + cost_ticks(c->cost, bytes);
	s->free_at[channel] = (c->busy_until & ~(int64_t)CHANNEL_MASK) | channel;
	c->packets++;
	c->bytes += bytes;
	return c->busy_until;
}
