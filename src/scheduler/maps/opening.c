/* SPDX-License-Identifier: BSD-3-Clause */
/* The elements of a MAP before data: ranging, and request opportunities by estimated contention. */
#include "scheduler/maps/internal.h"

#define FIXED 4 /* elements: two regions for requests, initial maintenance, the null element */

/*
 * Estimates the modems that contend, in 1/16. The estimate rises at once with requests and
 * collisions, and decays slowly. A collision has 2.4 modems on average at about one request per
 * opportunity.
 */
static void count_contenders(struct channel *c, struct req_state *req_state) {
	uint32_t seen = req_state->contention_requests * 16 + c->collided * 38;
	uint32_t before = c->contenders - c->contenders / 8;

	c->contenders = seen > before ? seen : before;
	req_state->contention_requests = c->collided = 0;
}

/* 1.5 opportunities per contending modem, up to an eighth of the MAP, but at least the
 * configured number. */
static uint32_t opportunities(const struct channel *c) {
	uint32_t wanted = (c->contenders + c->contenders / 2 + 15) / 16;

	wanted = lesser(wanted, c->opportunities_max);
	return wanted > c->set.request_opportunities ? wanted : c->set.request_opportunities;
}

/* Adds initial maintenance if it is due, and queued station maintenance on up to a quarter of the MAP. */
static void open_ranging(struct maps *m, uint32_t channel) {
	struct channel *c = &m->channels[channel];
	uint64_t start = map_start(m, c, c->number);
	uint32_t quarter = c->minislots / 4;

	c->initial = 0;
	if (c->set.initial_interval != 0 && start >= c->initial_at) {
		c->initial = c->set.initial_minislots;
		c->initial_at += c->set.initial_interval;
		if (c->initial_at <= start)
			c->initial_at = start + c->set.initial_interval;
		c->counts.initial_minislots += c->initial;
		channel_consume(m, channel, c->initial);
	}
	for (uint32_t used = 0; c->station_count > 0 && used <= quarter;
	     used += c->set.station_minislots) {
		const struct block b = {
			.sid = c->stations[c->station_first],
			.minislots = c->set.station_minislots,
			.kind = BLOCK_STATION,
		};

		if (c->free < c->requests + b.minislots || !front_block(m, channel, &b))
			break;
		c->counts.station_minislots += b.minislots;
		c->station_first = (c->station_first + 1) % MAX_STATIONS;
		c->station_count--;
	}
}

void channel_open(struct maps *m, uint32_t channel) {
	struct channel *c = &m->channels[channel];

	m->open |= UINT64_C(1) << channel;
	c->blocks_count = c->pinned_count = c->pending_count = 0;
	c->slots = c->elements - FIXED;
	c->free = c->minislots;
	m->keys[channel] = free_key(channel, c->free * c->set.minislot_bytes);
	c->kept = c->data_minislots = c->data_bytes = 0;
	count_contenders(c, &m->req_states[channel]);
	c->requests = opportunities(c) * c->set.request_minislots;
	open_ranging(m, channel);
	channel_consume(m, channel, c->requests);
}

/* From here on, blocks are data grants. */
void channel_begin_data(struct maps *m, uint32_t channel) {
	struct channel *c = &m->channels[channel];

	c->front = c->blocks_count;
	channel_consume(m, channel, lesser(c->kept, c->free));
}

/* Counts data grants together, which is cheaper than one by one. */
void channel_end_data(struct maps *m, uint32_t channel) {
	struct channel *c = &m->channels[channel];

	c->counts.grants += c->blocks_count - c->front;
	c->counts.granted_bytes += c->data_bytes;
	c->counts.data_minislots += c->data_minislots;
}
