/* SPDX-License-Identifier: BSD-3-Clause */
/* Channel access: which channel is free first, and what a packet takes of it. */
#pragma once

#include "scheduler/internal.h"

/* The low bits of free_at[] that hold the channel's index. */
#define CHANNEL_MASK (SCHEDULER_MAX_CHANNELS - 1)

/* Runs of this length and more are looked through with vectors. */
#define LONG_RUN 8

/* The least of the `n` entries, or the first that is not above `idle`. */
static inline int64_t run_free(const int64_t *at, uint32_t n, int64_t idle) {
	const int64_t *end = at + n;
	int64_t best = INT64_MAX;

	if (n >= LONG_RUN && *at > idle) {
		for (uint32_t i = 0; i < n; i++)
			best = at[i] < best ? at[i] : best;
		if (best > idle)
			return best;
	}
	for (; at < end; at++) {
		if (*at <= idle)
			return *at;
		best = *at < best ? *at : best;
	}
	return best;
}

/*
 * The entry of free_at[] of the group's channel that is free first; of several that are free by now, of
 * the one with the lowest index.
 */
static inline int64_t first_free(const struct scheduler *s, const struct group *g, int64_t now) {
	const int64_t idle = now | CHANNEL_MASK;
	int64_t best = INT64_MAX;

	for (uint32_t r = 0; r < g->run_count && best > idle; r++) {
		int64_t at = run_free(&s->free_at[g->runs[r].from], g->runs[r].count, idle);

		best = at < best ? at : best;
	}
	return best;
}

/* Bytes that a DOCSIS frame of `bytes` takes on the channel where its DEPI frame ends before it does. */
uint32_t channel_cut(struct channel *c, uint32_t bytes, int64_t now);

/* Bytes that a DOCSIS frame of `bytes` takes on the channel, with what DEPI puts around it. */
static inline uint32_t channel_bytes(struct channel *c, uint32_t bytes, int64_t now) {
	const uint32_t segment = bytes + c->depi.entry_bytes;

	if (c->depi.room == 0)
		return bytes;
	if (segment + c->depi.entry_bytes >= c->space || now - c->opened >= c->flush ||
	    c->segments + 1 == c->depi.max_segments)
		return channel_cut(c, bytes, now);
	c->space -= segment;
	c->segments++;
	return segment;
}

/* Gives the channel work for `bytes`. Returns when it will be done, in ticks. */
static inline int64_t channel_take(struct scheduler *s, uint32_t channel, uint32_t bytes,
				   int64_t now) {
	struct channel *c = &s->channels[channel];

	c->busy_until = (c->busy_until > now ? c->busy_until : now) + cost_ticks(c->cost, bytes);
	s->free_at[channel] = (c->busy_until & ~(int64_t)CHANNEL_MASK) | channel;
	c->packets++;
	c->bytes += bytes;
	return c->busy_until;
}
