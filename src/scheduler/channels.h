/* SPDX-License-Identifier: BSD-3-Clause */
/* Channel access: which channel is free first, and what a packet takes of it. */
#pragma once

#include "scheduler/internal.h"

/* The low bits of free_at[] that hold the channel's index. */
#define CHANNEL_MASK (SCHEDULER_MAX_CHANNELS - 1)

/* The entry of free_at[], or now where that is past, of the group's channel that is free first. */
static inline int64_t first_free(const struct scheduler *s, const struct group *g, int64_t now) {
	const int64_t present = now & ~(int64_t)CHANNEL_MASK;
	int64_t best = INT64_MAX;

	for (uint32_t r = 0; r < g->run_count; r++) {
		for (int64_t c = g->runs[r].from; c < g->runs[r].to; c++) {
			int64_t at = s->free_at[c] > present + c ? s->free_at[c] : present + c;

			best = at < best ? at : best;
		}
	}
	return best;
}

/* Bytes that a DOCSIS frame of `bytes` takes on the channel, with what DEPI puts around it. */
uint32_t channel_bytes(struct channel *c, uint32_t bytes, int64_t now);

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
