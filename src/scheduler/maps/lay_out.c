/* SPDX-License-Identifier: BSD-3-Clause */
/* The layout of a MAP: the order and minislots of its elements. */
#include "scheduler/maps/internal.h"

/* A MAP that is being written. */
struct layout {
	struct channel *c;
	struct map *out;
	uint32_t cursor; /* minislot of the next element */
	uint32_t pinned; /* index of the next pinned grant */
	uint32_t requests; /* minislots for requests that are still to be written */
	uint32_t cutoff; /* minislot where requests should end */
};

static void add(struct map *out, uint16_t sid, uint8_t iuc, uint32_t offset) {
	out->elements[out->count++] = (struct map_element){sid, (uint16_t)offset, iuc};
}

/* Fills minislots without a grant by a request region. Too few for one request get the unused
 * SID. */
static void fill(struct layout *s, uint32_t end) {
	struct channel *c = s->c;
	uint32_t length = end - s->cursor, unit = c->set.request_minislots;

	if (length == 0)
		return;
	if (length >= unit) {
		add(s->out, MAP_SID_BROADCAST, MAP_REQUEST, s->cursor);
		c->counts.request_minislots += length / unit * unit;
	} else {
		add(s->out, MAPS_SID_UNUSED, MAP_REQUEST, s->cursor);
	}
	s->cursor = end;
}

/* The IUC of a data grant. */
static uint8_t data_iuc(const struct maps_channel *set, uint32_t minislots) {
	return set->short_iuc != 0 && minislots <= set->short_minislots ? set->short_iuc
									: set->data_iuc;
}

/* Writes a block as an element at the cursor. */
static void write(struct layout *s, const struct block *b) {
	uint8_t iuc = data_iuc(&s->c->set, b->minislots);

	if (b->kind == BLOCK_STATION)
		iuc = MAP_STATION;
	else if (b->kind == BLOCK_POLL)
		iuc = MAP_REQUEST;
	add(s->out, b->sid, iuc, s->cursor);
	s->cursor += b->minislots;
}

/* Writes the next pinned grant at the cursor, and counts it as belated if that is too late. */
static void write_pinned(struct layout *s) {
	const struct pinned *p = &s->c->pinned[s->pinned++];

	s->c->counts.belated += s->cursor > p->until;
	write(s, &p->block);
}

/* Writes the part of a grant that fits before the minislot `end`. Returns the rest. */
static struct block split(struct layout *s, const struct block *b, uint32_t end) {
	const struct maps_channel *set = &s->c->set;
	struct block part = *b, rest = *b;

	part.minislots = (uint16_t)(end - s->cursor);
	part.bytes =
		(uint32_t)(part.minislots - set->burst_minislots) * set->minislot_bytes - b->header;
	rest.bytes = b->bytes - part.bytes;
	rest.minislots =
		(uint16_t)(set->burst_minislots + minislots_for(s->c, rest.bytes + b->header));
	s->c->counts.grants++;
	s->c->counts.data_minislots += (uint64_t)part.minislots + rest.minislots - b->minislots;
	write(s, &part);
	return rest;
}

/* Writes a data grant, after the pinned grants that precede it. Data that would delay a pinned grant
 * too much are split. */
static void write_data(struct layout *s, struct block b) {
	while (s->pinned < s->c->pinned_count) {
		const struct pinned *p = &s->c->pinned[s->pinned];
		uint32_t at = s->cursor + s->c->min;

		if (s->cursor >= p->from) {
			write_pinned(s);
			continue;
		}
		if (s->cursor + b.minislots <= p->until)
			break;
		at = at > p->from ? at : p->from;
		if (at <= p->until)
			b = split(s, &b, at);
		else
			fill(s, p->from);
	}
	write(s, &b);
}

/* Writes the request region, in parts if pinned grants fall into it. */
static void write_requests(struct layout *s, uint32_t minislots) {
	while (s->pinned < s->c->pinned_count &&
	       s->c->pinned[s->pinned].from < s->cursor + minislots) {
		uint32_t from = s->c->pinned[s->pinned].from, before = s->cursor;

		if (from > s->cursor) {
			fill(s, from);
			minislots -= (from - before) / s->c->set.request_minislots *
				     s->c->set.request_minislots;
		}
		write_pinned(s);
	}
	fill(s, s->cursor + minislots);
	s->requests = 0;
}

/* Writes the remaining pinned grants, with request regions in the gaps and to the end. */
static void write_rest(struct layout *s) {
	while (s->pinned < s->c->pinned_count) {
		uint32_t from = s->c->pinned[s->pinned].from;

		if (from > s->cursor)
			fill(s, from);
		write_pinned(s);
	}
	fill(s, s->c->minislots);
}

/* Writes data grants from block `i` on, of a MAP without further pinned grants, up to the one before which
 * the request region is due; at least one. Returns the next block. */
static uint32_t write_run(struct layout *s, uint32_t i) {
	const struct channel *c = s->c;
	uint32_t end = s->requests > 0 ? s->cutoff - s->requests : UINT32_MAX;
	struct map_element *e = &s->out->elements[s->out->count];
	uint32_t cursor = s->cursor;

	do {
		const struct block *b = &c->blocks[i++];

		*e++ = (struct map_element){b->sid, (uint16_t)cursor,
					    data_iuc(&c->set, b->minislots)};
		cursor += b->minislots;
	} while (i < c->blocks_count && cursor + c->blocks[i].minislots <= end);
	s->out->count = (uint16_t)(e - s->out->elements);
	s->cursor = cursor;
	return i;
}

/* Writes all data grants, and the request region before the one that would make it end too late. */
static void write_grants(struct layout *s) {
	const struct channel *c = s->c;

	for (uint32_t i = c->front; i < c->blocks_count;) {
		const struct block *b = &c->blocks[i];

		if (s->requests > 0 && s->cursor + b->minislots + s->requests > s->cutoff)
			write_requests(s, s->requests);
		if (s->pinned == c->pinned_count)
			i = write_run(s, i);
		else
			write_data(s, c->blocks[i++]);
	}
}

/* Moves pinned grants that would not fit before the end of the MAP to earlier minislots. */
static void bound_pinned(struct channel *c) {
	uint32_t end = c->minislots;

	for (uint32_t i = c->pinned_count; i-- > 0;) {
		end -= c->pinned[i].block.minislots;
		c->pinned[i].from = lesser(c->pinned[i].from, end);
	}
}

/* Sets all but the elements. The back-off window grows with the estimated contention. */
static void head(struct maps *m, struct channel *c, struct map *out) {
	uint64_t number = c->number - 1, frames = number * c->frames;
	uint32_t contenders = 2 * c->contenders / 16;

	out->version = c->set.kind == MAPS_OFDMA ? 5 : 1;
	out->channel = c->set.id;
	out->ucd_count = c->set.ucd_count;
	out->ranging_start = c->set.ranging_start;
	out->ranging_end = c->set.ranging_end;
	out->data_start = c->set.data_start;
	out->data_end = c->set.data_end;
	while (out->data_start < out->data_end && 1u << out->data_start < contenders)
		out->data_start++;
	out->count = 0;
	out->alloc_start = (uint32_t)(number * c->minislots);
	out->ack_time = (uint32_t)((frames - c->early) * c->set.frame_minislots);
	if (frames >= c->early)
		m->req_states[c - m->channels].acked =
			m->start + (frames - c->early) * c->set.frame;
}

void lay_out(struct maps *m, uint32_t channel, struct map *out) {
	struct channel *c = &m->channels[channel];
	struct layout s = {
		.c = c,
		.out = out,
		.requests = c->requests,
		.cutoff = c->cutoff < c->requests ? c->minislots : c->cutoff,
	};

	head(m, c, out);
	bound_pinned(c);
	if (c->initial > 0)
		add(out, MAP_SID_BROADCAST, MAP_INITIAL, 0);
	s.cursor = c->initial;
	for (uint32_t i = 0; i < c->front; i++)
		write(&s, &c->blocks[i]);
	write_grants(&s);
	write_rest(&s);
	add(out, 0, MAP_NULL, c->minislots);
	for (uint32_t i = 0; i < c->pending_count; i++)
		add(out, c->pending[i], c->set.data_iuc, c->minislots);
	c->counts.maps++;
	c->counts.minislots += c->minislots;
}
