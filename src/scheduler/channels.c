/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/channels.h"

/* Packs one segment; `left` bytes of the packet remain. Returns its bytes, or 0 if the DEPI
 * frame ends without one. */
static uint32_t segment_pack(struct channel *c, uint32_t left) {
	uint32_t size = c->space - c->depi.entry_bytes;

	if (left <= size)
		size = left;
	else if (size < c->depi.min_fragment)
		size = 0;
	if (size > 0) {
		c->space -= size + c->depi.entry_bytes;
		c->segments++;
	}
	if (size == 0 || c->segments == c->depi.max_segments || c->space <= c->depi.entry_bytes)
		c->space = 0;
	return size;
}

uint32_t channel_split(struct channel *c, uint32_t bytes, int64_t now) {
	uint32_t all = bytes;

	if (now - c->opened >= c->flush)
		c->space = 0;
	while (bytes > 0) {
		uint32_t part;

		if (c->space == 0) {
			c->space = c->depi.capacity;
			c->segments = 0;
			c->opened = now;
			all += c->depi.frame_bytes;
		}
		part = segment_pack(c, bytes);
		all += part > 0 ? c->depi.entry_bytes : 0;
		bytes -= part;
	}
	return all;
}

/* These bytes are in DEPI frames of their own, and are no packet of the channel. */
void scheduler_charge(struct scheduler *s, uint32_t channel, uint64_t bytes) {
	const uint64_t max = UINT32_MAX / 2;
	struct channel *c = &s->channels[channel];

	if (channel >= s->channel_count || bytes == 0)
		return;
	bytes += c->depi.capacity > 0 ? (uint64_t)c->depi.frame_bytes + c->depi.entry_bytes : 0;
	channel_charge(s, channel, (uint32_t)(bytes < max ? bytes : max), s->now);
	c->packets--;
}
