/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/channels.h"

/* One segment of the packet, of which `left` bytes are to go; returns what it holds, 0 where the
 * DEPI frame is ended without one. */
static uint32_t segment_take(struct channel *c, uint32_t left) {
	uint32_t take = c->space - c->depi.entry_bytes;

	if (left <= take)
		take = left;
	else if (take < c->depi.min_fragment)
		take = 0;
	if (take > 0) {
		c->space -= take + c->depi.entry_bytes;
		c->segments++;
	}
	if (take == 0 || c->segments == c->depi.max_segments || c->space <= c->depi.entry_bytes)
		c->space = 0;
	return take;
}

uint32_t channel_cut(struct channel *c, uint32_t bytes, int64_t now) {
	uint32_t all = bytes;

	if (now - c->opened >= c->flush)
		c->space = 0;
	while (bytes > 0) {
		uint32_t part;

		if (c->space == 0) {
			c->space = c->depi.room;
			c->segments = 0;
			c->opened = now;
			all += c->depi.frame_bytes;
		}
		part = segment_take(c, bytes);
		all += part > 0 ? c->depi.entry_bytes : 0;
		bytes -= part;
	}
	return all;
}

/* Not one of the channel's packets: it has no part in its DEPI frames. */
void scheduler_charge(struct scheduler *s, uint32_t channel, uint64_t bytes) {
	const uint64_t most = UINT32_MAX / 2;
	struct channel *c = &s->channels[channel];

	if (channel >= s->channel_count || bytes == 0)
		return;
	bytes += c->depi.room > 0 ? (uint64_t)c->depi.frame_bytes + c->depi.entry_bytes : 0;
	channel_take(s, channel, (uint32_t)(bytes < most ? bytes : most), s->now);
	c->packets--;
}
