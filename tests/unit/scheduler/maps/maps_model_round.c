/* SPDX-License-Identifier: BSD-3-Clause */
/* The rounds of the model: time, and the elements before data. */
#include <string.h>

#include "maps_model.h"

#define MAX_PINNED 128 /* unsolicited grants at their own time, per MAP */
#define PINNED_ELEMENTS 3 /* the grant, the second part of a split, idle minislots before it */

static uint64_t larger(uint64_t a, uint64_t b) {
	return a > b ? a : b;
}

/* True of polling flows, and of UGS-AD while silent. */
static bool next_is_poll(const struct model_flow *f) {
	return f->set.type == MAPS_NON_REAL_TIME_POLLING || f->set.type == MAPS_REAL_TIME_POLLING ||
	       f->silent;
}

/* Grants with a jitter of two MAPs or more go to the front of a MAP. Others are pinned to their time. */
static bool has_long_jitter(const struct model_channel *c, const struct model_flow *f) {
	return f->set.grant_jitter >= 2 * (uint64_t)c->length;
}

/* The number of the MAP of the next grant or poll. */
static uint64_t next_map(const struct model *m, const struct model_flow *f) {
	const struct model_channel *c = &m->channels[f->service_channel];
	uint64_t at = f->next > m->start ? f->next - m->start : 0;
	uint64_t frame = at % c->length / c->set.frame + (at % c->set.frame != 0);
	uint32_t minislots =
		f->set.grants * model_minislots(c, f->set.grant_bytes + f->set.header_bytes);

	if (next_is_poll(f))
		return at / c->length;
	if (has_long_jitter(c, f))
		return at / c->length + (at % c->length != 0);
	return at / c->length + (frame * c->set.frame_minislots + minislots > c->minislots);
}

uint64_t model_due(const struct model *m, const struct model_channel *c, uint64_t number) {
	uint64_t at = m->start + number * c->length;

	return at > c->set.lead ? at - c->set.lead : 0;
}

uint64_t model_service_time(const struct model *m, int flow) {
	const struct model_flow *f = &m->flows[flow];

	if (f->state == MODEL_UNUSED || f->set.type == MAPS_BEST_EFFORT)
		return UINT64_MAX;
	return model_due(m, &m->channels[f->service_channel], next_map(m, f));
}

static void add_poll(struct model *m, struct model_flow *f) {
	struct model_channel *c = &m->channels[f->service_channel];

	if (model_has_slots(c) && c->free >= c->unit) {
		c->front[c->front_count++] =
			(struct model_item){.kind = MODEL_POLL,
					    .sid = f->sids[0][f->service_channel],
					    .minislots = c->unit};
		c->slots--;
		model_use_minislots(c, c->unit);
	} else {
		m->missed++;
	}
	do
		f->next += f->set.poll_interval;
	while (f->next < m->start + (c->number + 1) * c->length);
}

/* Adds a grant that begins between `next` and `next` + `jitter` (samples). Keeps minislots and elements to split a data
 * grant around it. Returns false if it does not fit. */
static bool add_pinned(struct model *m, struct model_channel *c, struct model_item item,
		       uint64_t next, uint32_t jitter) {
	uint64_t start = m->start + c->number * c->length;
	uint32_t spare = model_minislots(c, 128) + 1;
	int at = c->pinned_count;

	spare = spare > c->unit ? spare : c->unit;
	if (c->pinned_count == MAX_PINNED || c->slots <= c->elements / 8 + PINNED_ELEMENTS ||
	    c->free < item.minislots)
		return false;
	if (next > start)
		item.from = (int64_t)((next - start + c->set.frame - 1) / c->set.frame *
				      c->set.frame_minislots);
	if (next + jitter > start)
		item.until =
			(int64_t)((next + jitter - start) / c->set.frame * c->set.frame_minislots);
	item.until = (item.until > item.from ? item.until : item.from) + c->set.frame_minislots - 1;
	while (at > 0 && c->pinned[at - 1].from > item.from)
		at--;
	memmove(&c->pinned[at + 1], &c->pinned[at], (size_t)(c->pinned_count - at) * sizeof(item));
	c->pinned[at] = item;
	c->pinned_count++;
	c->slots -= PINNED_ELEMENTS;
	c->kept += spare;
	model_use_minislots(c, item.minislots);
	return true;
}

static void add_grant(struct model *m, int flow) {
	struct model_flow *f = &m->flows[flow];
	struct model_channel *c = &m->channels[f->service_channel];
	uint32_t bytes = f->set.grant_bytes;
	struct model_item item = {
		.kind = MODEL_UNSOLICITED,
		.sid = f->sids[0][f->service_channel],
		.minislots = model_minislots(c, bytes + f->set.header_bytes),
	};

	for (int i = 0; i < f->set.grants; i++) {
		bool done = has_long_jitter(c, f)
				    ? model_has_slots(c) && c->free >= item.minislots
				    : add_pinned(m, c, item, f->next, f->set.grant_jitter);
		uint32_t requested = f->cluster == 0 && f->owed[0] < bytes ? f->owed[0] : bytes;

		m->missed += !done;
		if (!done)
			continue;
		if (has_long_jitter(c, f)) {
			c->front[c->front_count++] = item;
			c->slots--;
			model_use_minislots(c, item.minislots);
		}
		requested = f->cluster == 0 ? requested : 0;
		m->granted += bytes;
		m->unsolicited += bytes - requested;
		if (requested > 0) {
			model_charge(f, requested);
			if (f->owed[0] == 0)
				model_next_cluster(m, flow);
		}
	}
	f->next += f->set.grant_interval;
}

/* Adds the flow's grants and polls that belong to the present MAP. Counts those of earlier MAPs as missed. */
void model_service(struct model *m, int flow) {
	struct model_flow *f = &m->flows[flow];
	struct model_channel *c = &m->channels[f->service_channel];

	if (f->set.type == MAPS_UNSOLICITED_ACTIVITY && m->now > f->used &&
	    m->now - f->used > f->set.active_timeout)
		f->silent = true;
	for (;;) {
		uint64_t number = next_map(m, f), start = m->start + c->number * c->length;

		if (number < c->number) {
			uint64_t until = next_is_poll(f) || !has_long_jitter(c, f)
						 ? start
						 : start - c->length + 1;

			for (; f->next < until; f->next += next_is_poll(f) ? f->set.poll_interval
									   : f->set.grant_interval)
				/* those before the first MAP round are not missed */
				m->missed += m->rounds <= 1    ? 0
					     : next_is_poll(f) ? 1
							       : f->set.grants;
		} else if (number > c->number || !c->made) {
			return;
		} else if (next_is_poll(f)) {
			add_poll(m, f);
		} else {
			add_grant(m, flow);
		}
	}
}

static void open_ranging(struct model *m, struct model_channel *c) {
	uint64_t start = m->start + c->number * c->length;
	uint32_t used = 0;

	c->initial = 0;
	if (c->set.initial_interval != 0 && start >= c->initial_at) {
		c->initial = c->set.initial_minislots;
		c->initial_at += c->set.initial_interval;
		if (c->initial_at <= start)
			c->initial_at = start + c->set.initial_interval;
	}
	model_use_minislots(c, c->initial);
	while (c->station_count > 0 && used <= c->minislots / 4 && model_has_slots(c) &&
	       c->free >= c->requests + c->set.station_minislots) {
		c->front[c->front_count++] =
			(struct model_item){.kind = MODEL_STATION,
					    .sid = c->stations[0],
					    .minislots = c->set.station_minislots};
		c->slots--;
		used += c->set.station_minislots;
		model_use_minislots(c, c->set.station_minislots);
		memmove(&c->stations[0], &c->stations[1],
			(size_t)--c->station_count * sizeof(c->stations[0]));
	}
}

void model_open_map(struct model *m, struct model_channel *c) {
	uint32_t estimate = 16 * c->contended_requests + 38 * c->collided,
		 before = c->contenders - c->contenders / 8;
	uint32_t space = c->minislots - c->set.initial_minislots, wanted;

	c->made = true;
	c->contenders = (uint32_t)larger(estimate, before);
	c->contended_requests = c->collided = 0;
	c->front_count = c->pinned_count = c->data_count = c->pending_count = 0;
	c->free = c->minislots;
	c->kept = 0;
	c->slots = c->elements - 4;
	wanted = (c->contenders + c->contenders / 2 + 15) / 16;
	space = (space < c->minislots / 8 ? space : c->minislots / 8) / c->unit;
	wanted = wanted < space ? wanted : space;
	c->requests = (uint32_t)larger(wanted, c->set.request_opportunities) * c->unit;
	open_ranging(m, c);
	model_use_minislots(c, c->requests);
}

/* Handles the earliest timer that has run out; at equal times parked flows, then reserved rates, then grants and
 * polls. Returns false if no timer has run out. */
static bool expire(struct model *m) {
	uint64_t best = m->now + 1;
	int kind = -1, flow = -1;

	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < MODEL_FLOWS; i++) {
			const struct model_flow *f = &m->flows[i];
			uint64_t at = k == 0   ? f->parked_until
				      : k == 1 ? f->reserved_at
					       : model_service_time(m, i);

			if ((k == 2 || at != 0) && at < best) {
				best = at;
				kind = k;
				flow = i;
			}
		}
	}
	if (kind == 0) {
		model_leave_lists(m, flow);
		model_ready(m, flow);
	} else if (kind == 1) {
		m->flows[flow].reserved_at = 0;
		model_join(m, flow, MAPS_PRIORITIES);
	} else if (kind == 2) {
		model_service(m, flow);
	}
	return kind >= 0;
}

/* Fills the buckets up to `due`, starts the MAPs that are due, and grants in them. model_make() then writes them one by
 * one. */
static void grant_round(struct model *m, uint64_t due) {
	for (int i = 0; i < MODEL_FLOWS; i++) {
		struct model_flow *f = &m->flows[i];

		for (struct model_bucket *b = f->rates; b < f->rates + MODEL_RATES; b++) {
			b->tokens += (__int128)b->rate * (due - m->now);
			b->tokens = b->tokens > b->depth ? b->depth : b->tokens;
		}
		f->granted = false;
		memset(f->grants, 0, sizeof(f->grants));
	}
	m->now = due;
	m->rounds++;
	for (uint32_t i = 0; i < m->channel_count; i++)
		if (model_due(m, &m->channels[i], m->channels[i].number) == due)
			model_open_map(m, &m->channels[i]);
		else
			m->channels[i].open = false;
	while (expire(m))
		;
	for (uint32_t i = 0; i < m->channel_count; i++) {
		struct model_channel *c = &m->channels[i];

		if (c->made)
			model_use_minislots(c, c->kept < c->free ? c->kept : c->free);
	}
	model_share(m);
	model_add_pending(m);
}

static void start_clock(struct model *m, uint64_t now) {
	for (uint32_t i = 0; i < m->channel_count; i++) {
		struct model_channel *c = &m->channels[i];

		c->number = 0;
		while (m->start + c->number * c->length < now + c->set.lead)
			c->number++;
		c->initial_at = m->start + c->number * c->length;
		c->acked = 0;
	}
	m->started = true;
}

/* Whether the clock was set back so far that the channels restart: by more than two of the longest MAPs. */
static bool far_back(const struct model *m, uint64_t now) {
	uint64_t longest = 0, due = UINT64_MAX;
	bool sooner = false; /* a channel could restart with an earlier MAP than its next one */

	for (uint32_t i = 0; i < m->channel_count; i++) {
		const struct model_channel *c = &m->channels[i];
		uint64_t at = model_due(m, c, c->number);

		longest = larger(longest, c->length);
		due = at < due ? at : due;
		sooner = sooner || (c->number > 0 &&
				    m->start + (c->number - 1) * c->length >= now + c->set.lead);
	}
	return due > now + 2 * longest && sooner;
}

/* Restarts the channels after the clock was set back. Timers keep their remaining times. */
static void follow_back(struct model *m, uint64_t now) {
	uint64_t starts[MODEL_CHANNELS];

	for (uint32_t i = 0; i < m->channel_count; i++)
		starts[i] = m->start + m->channels[i].number * m->channels[i].length;
	start_clock(m, now);
	for (int i = 0; i < MODEL_FLOWS; i++) {
		struct model_flow *f = &m->flows[i];
		const struct model_channel *c = &m->channels[f->service_channel];
		uint64_t start = starts[f->service_channel];

		f->next =
			(f->next > start ? f->next - start : 0) + m->start + c->number * c->length;
		f->used = f->used < now ? f->used : now;
		if (f->parked_until != 0)
			f->parked_until = now + (f->parked_until - m->now);
		if (f->reserved_at != 0)
			f->reserved_at = now + (f->reserved_at - m->now);
	}
	m->now = now;
}

uint32_t model_make(struct model *m, uint64_t now, struct map *out) {
	uint64_t due = UINT64_MAX;

	if (!m->started)
		start_clock(m, now);
	for (uint32_t i = 0; i < m->channel_count; i++) {
		struct model_channel *c = &m->channels[i];

		if (c->made) {
			model_write(m, c, out);
			c->number++;
			c->made = false;
			return i;
		}
	}
	if (far_back(m, now))
		follow_back(m, now);
	for (uint32_t i = 0; i < m->channel_count; i++) {
		struct model_channel *c = &m->channels[i];

		for (; model_due(m, c, c->number) + c->set.slack < now; c->number++)
			m->late++;
		if (model_due(m, c, c->number) < due)
			due = model_due(m, c, c->number);
	}
	if (due > now)
		return MAPS_NONE;
	grant_round(m, due);
	return model_make(m, now, out);
}
