/* SPDX-License-Identifier: BSD-3-Clause */
/* Selects channels for data grants and converts bytes to minislots. */
#include "scheduler/maps/internal.h"

bool front_block(struct maps *m, uint32_t channel, const struct block *b) {
	struct channel *c = &m->channels[channel];

	if (b->minislots > c->free || !slots_left(c))
		return false;
	c->blocks[c->blocks_count++] = *b;
	c->slots--;
	channel_consume(m, channel, b->minislots);
	return true;
}

/* The grant that the flow's cluster already has in this MAP, or NULL. */
static struct block *block_of(const struct maps *m, uint32_t flow, uint32_t channel) {
	const struct flow *f = &m->flows[flow];
	struct channel *c = &m->channels[channel];
	uint32_t i;

	if (f->round != m->round)
		return NULL;
	i = sid_state_of(m, flow, f->cluster, channel)->block;
	if (i >= c->blocks_count || c->blocks[i].kind != BLOCK_DATA || c->blocks[i].flow != flow ||
	    c->blocks[i].cluster != f->cluster)
		return NULL;
	return &c->blocks[i];
}

/* Bytes with headers of a grant. */
static uint32_t capacity(const struct channel *c, uint32_t minislots) {
	return (minislots - c->set.burst_minislots) * c->set.minislot_bytes;
}

/* Whether the channel has about as many bytes free as the one with the key `max`. */
static bool near(const struct maps *m, uint32_t channel, uint32_t max) {
	return m->keys[channel] + m->margins[channel] >= max;
}

/* Those of `channels` where the flow's grant has its longest size. Most flows have no limit but the
 * MAP. */
static uint64_t full_of(const struct maps *m, uint32_t flow, uint64_t channels) {
	const struct flow *f = &m->flows[flow];
	uint64_t full = 0;

	if (f->max == UINT32_MAX)
		channels &= m->bounded;
	for (uint64_t left = channels; left != 0; left &= left - 1) {
		uint32_t channel = first_bit(left);
		const struct channel *c = &m->channels[channel];
		const struct block *b = block_of(m, flow, channel);
		uint32_t minislots = lesser((b == NULL ? 0 : b->minislots) + c->free, c->max);

		if (lesser(capacity(c, minislots) - f->header, f->max) ==
		    (b == NULL ? 0 : b->bytes))
			full |= UINT64_C(1) << channel;
	}
	return full;
}

/* The highest key of `channels` (0: there is none), and the second highest. No branch depends on keys, as it
 * would often be mispredicted. */
static uint32_t highest(const struct maps *m, uint64_t channels, uint32_t *second) {
	uint32_t first = 0;

	*second = 0;
	for (uint64_t left = channels; left != 0; left &= left - 1) {
		uint32_t key = m->keys[first_bit(left)], less = lesser(key, first);

		first = key > first ? key : first;
		*second = less > *second ? less : *second;
	}
	return first;
}

static uint32_t channel_of(uint32_t key) {
	return MAPS_MAX_CHANNELS - 1 - key % MAPS_MAX_CHANNELS;
}

/* Selects the channel of the flow's latest grant, or else the group's current one, unless another
 * has much more free; then the one with the most. Skips channels where the flow's grant is full. Not
 * inline, to leave the registers to grants, most of which need no search. */
static __attribute__((noinline)) uint32_t choose_best(struct maps *m, uint32_t flow,
						      struct group *g) {
	const struct flow *f = &m->flows[flow];
	bool granted = f->round == m->round, current = g->round == m->round;
	uint64_t open = g->channels & m->open, full = granted ? full_of(m, flow, open) : 0;
	uint32_t second, unused, first = highest(m, open, &second);
	uint32_t max = full == 0 ? first : highest(m, open & ~full, &unused), channel = NONE;

	if (granted && has_bit(open & ~full, f->latest) && near(m, f->latest, max))
		channel = f->latest;
	else if (current && has_bit(open & ~full, g->current) && near(m, g->current, max))
		channel = g->current;
	else if (max != 0) {
		channel = g->current = channel_of(max);
		g->round = m->round;
	}
	g->max = g->round == m->round && m->keys[g->current] == first ? second : first;
	return channel;
}

/* The same, mostly without a search. Keys only decrease, so g->max stays an upper bound. */
static uint32_t choose(struct maps *m, uint32_t flow, struct group *g) {
	const struct flow *f = &m->flows[flow];
	bool granted = f->round == m->round;
	uint32_t channel = granted ? f->latest : g->current;

	if (g->round != m->round || !has_bit(g->channels & m->open, channel) ||
	    !near(m, channel, g->max) || !near(m, channel, m->keys[g->current]) ||
	    (granted && full_of(m, flow, UINT64_C(1) << channel) != 0))
		return choose_best(m, flow, g);
	return channel;
}

/* Appends a data grant of the flow's current cluster, still without bytes. */
static struct block *new_block(struct maps *m, uint32_t flow, uint32_t channel) {
	struct channel *c = &m->channels[channel];
	const struct flow *f = &m->flows[flow];
	struct sid_state *sid_state = sid_state_of(m, flow, f->cluster, channel);
	struct block *b = &c->blocks[c->blocks_count];

	b->flow = flow;
	b->sid = sid_state->sid;
	b->kind = BLOCK_DATA;
	b->cluster = f->cluster;
	b->header = f->header;
	sid_state->block = (uint16_t)c->blocks_count++;
	c->slots--;
	return b;
}

/* Adds up to `want` bytes to the flow's grant on the channel. Returns how many. */
static uint32_t put(struct maps *m, uint32_t flow, uint32_t channel, uint32_t want) {
	struct channel *c = &m->channels[channel];
	struct flow *f = &m->flows[flow];
	struct block *b = block_of(m, flow, channel);
	uint32_t before = b == NULL ? 0 : b->minislots, bytes = b == NULL ? 0 : b->bytes;
	uint32_t added = lesser(want, f->max - bytes), max = lesser(before + c->free, c->max);
	uint32_t minislots = c->set.burst_minislots + minislots_for(c, bytes + added + f->header);

	if (minislots > max) {
		minislots = max;
		added = capacity(c, max) - f->header - bytes;
	}
	if (b == NULL)
		b = new_block(m, flow, channel);
	b->bytes = bytes + added;
	b->minislots = (uint16_t)minislots;
	c->data_bytes += added;
	c->data_minislots += minislots - before;
	channel_consume(m, channel, minislots - before);
	f->round = m->round;
	f->latest = (uint8_t)channel;
	return added;
}

uint32_t assign(struct maps *m, uint32_t flow, struct group *g, uint32_t want) {
	uint32_t got = 0;

	while (got < want) {
		uint32_t channel = choose(m, flow, g);

		if (channel == NONE)
			break;
		got += put(m, flow, channel, want - got);
	}
	return got;
}
