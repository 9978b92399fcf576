/* SPDX-License-Identifier: BSD-3-Clause */
/* Unsolicited grants (UGS, UGS-AD, PGS) and polls (rtPS, nrtPS, silent UGS-AD). Each has a nominal
 * time, in samples as in maps.h. */
#include "scheduler/maps/lists.h"
#include "scheduler/maps/rates.h"

#define PINNED_ELEMENTS 3
#define FIRST_ROUND 2 /* `round` is 1 before it */

/* Whether the flow gets polls at present instead of grants. */
static bool is_polled(const struct maps *m, uint32_t flow) {
	uint8_t type = m->flows[flow].type;

	return type == MAPS_NON_REAL_TIME_POLLING || type == MAPS_REAL_TIME_POLLING ||
	       m->services[flow].silent;
}

/* Whether grants are placed before data, in the first MAP that begins at their time or later: with a
 * jitter of at least two MAPs. Other grants are pinned to their time. */
static bool is_front(const struct channel *c, const struct service *s) {
	return s->jitter >= 2 * (uint64_t)c->length;
}

static uint32_t grant_minislots(const struct maps *m, uint32_t flow) {
	const struct service *s = &m->services[flow];
	const struct channel *c = &m->channels[s->channel];

	return c->set.burst_minislots + minislots_for(c, s->bytes + m->flows[flow].header);
}

/* The number of the MAP for the next grant or poll. If the grants of an interval
 * do not fit between their time and the end of the MAP, they belong to the next MAP. */
static uint64_t map_of(const struct maps *m, uint32_t flow) {
	const struct service *s = &m->services[flow];
	const struct channel *c = &m->channels[s->channel];
	uint64_t since = s->next > m->start ? s->next - m->start : 0;
	uint64_t number = since / c->length, from;

	if (is_polled(m, flow))
		return number;
	if (is_front(c, s))
		return (since + c->length - 1) / c->length;
	from = (since % c->length + c->set.frame - 1) / c->set.frame * c->set.frame_minislots;
	return number + (from + (uint64_t)s->grants * grant_minislots(m, flow) > c->minislots);
}

static void set_timer(struct maps *m, uint32_t flow) {
	const struct channel *c = &m->channels[m->services[flow].channel];

	timers_set(&m->timers, timer_of(m, TIMER_SERVICE, flow), map_due(m, c, map_of(m, flow)));
}

/* A hash of the flow's number spreads flows that begin together over the interval. */
void service_begin(struct maps *m, uint32_t flow, const struct maps_flow *settings, uint64_t now) {
	struct service *s = &m->services[flow];
	const struct channel *c = &m->channels[s->channel];
	uint64_t spread = (uint32_t)(flow * 0x9e3779b1u);

	s->interval = settings->grant_interval;
	s->poll_interval = settings->poll_interval;
	s->timeout = settings->active_timeout;
	s->jitter = settings->grant_jitter;
	s->grants = settings->type == MAPS_PROACTIVE ? 1 : settings->grants;
	s->bytes = settings->grant_bytes;
	s->used = now;
	s->silent = false;
	if (settings->type == MAPS_PROACTIVE)
		s->bytes = (uint32_t)proactive_bytes(settings);
	s->next = map_start(m, c, c->number);
	s->next += spread * (is_polled(m, flow) ? s->poll_interval : s->interval) >> 32;
	set_timer(m, flow);
}

/* Skips grants or polls that belong to earlier MAPs, and counts them as missed. */
static void skip(struct maps *m, uint32_t flow) {
	struct service *s = &m->services[flow];
	struct channel *c = &m->channels[s->channel];
	uint32_t interval = is_polled(m, flow) ? s->poll_interval : s->interval;
	uint64_t behind = map_start(m, c, c->number) - s->next;
	uint64_t times;

	if (!is_polled(m, flow) && is_front(c, s))
		behind -= c->length - 1;
	times = (behind + interval - 1) / interval;
	s->next += times * interval;
	if (m->round > FIRST_ROUND) /* before the first round there was no MAP */
		c->counts.missed += times * (is_polled(m, flow) ? 1 : s->grants);
}

/* Adds one poll, or counts it as missed if it does not fit. */
static void poll(struct maps *m, uint32_t flow) {
	struct service *s = &m->services[flow];
	struct channel *c = &m->channels[s->channel];
	uint64_t end = map_start(m, c, c->number + 1);
	const struct block b = {
		.flow = flow,
		.sid = sid_state_of(m, flow, 0, s->channel)->sid,
		.minislots = c->set.request_minislots,
		.kind = BLOCK_POLL,
	};

	if (front_block(m, s->channel, &b)) {
		c->counts.polls++;
		c->counts.request_minislots += b.minislots;
	} else {
		c->counts.missed++;
	}
	s->next += s->poll_interval;
	if (s->next < end) /* at most one poll per MAP; omitted ones are not missed */
		s->next += (end - s->next + s->poll_interval - 1) / s->poll_interval *
			   s->poll_interval;
}

/* Pins a grant to its time, rounded up to a frame. Reserves what it may cost data: the minislots of a
 * split grant, and the elements of itself, the rest of the split grant and a gap. Returns false if
 * minislots, elements or pinned grants are exhausted. */
static bool pin(struct maps *m, uint32_t flow, const struct block *b) {
	const struct service *s = &m->services[flow];
	struct channel *c = &m->channels[s->channel];
	uint64_t start = map_start(m, c, c->number), latest = s->next + s->jitter;
	uint64_t from = s->next > start ? (s->next - start + c->set.frame - 1) / c->set.frame : 0;
	uint64_t until = latest > start ? (latest - start) / c->set.frame : 0;
	uint32_t minislots = c->set.frame_minislots;
	struct pinned p = {*b, (uint32_t)from * minislots, 0};
	uint32_t index = c->pinned_count;

	if (c->pinned_count == MAX_PINNED || c->slots <= c->elements / 8 + PINNED_ELEMENTS ||
	    b->minislots > c->free)
		return false;
	p.until = (uint32_t)(until > from ? until : from) * minislots + minislots - 1;
	for (; index > 0 && c->pinned[index - 1].from > p.from; index--)
		c->pinned[index] = c->pinned[index - 1];
	c->pinned[index] = p;
	c->pinned_count++;
	c->slots -= PINNED_ELEMENTS;
	c->kept += c->split;
	channel_consume(m, s->channel, b->minislots);
	return true;
}

/* Counts a grant. It also serves requested bytes of the flow's first cluster. */
static void grant_count(struct maps *m, uint32_t flow, const struct block *b) {
	struct flow *f = &m->flows[flow];
	struct channel *c = &m->channels[m->services[flow].channel];
	uint32_t requested = f->cluster == 0 ? lesser(f->owed_here, b->bytes) : 0;

	c->counts.grants++;
	c->counts.granted_bytes += b->bytes;
	c->counts.unsolicited_bytes += b->bytes - requested;
	c->counts.data_minislots += b->minislots;
	if (requested == 0)
		return;
	flow_charge(m, flow, requested);
	if (f->owed_here == 0 && f->owed > 0)
		flow_switch(m, flow);
	else if (f->owed_here == 0)
		flow_idle(m, flow);
}

static void grant(struct maps *m, uint32_t flow) {
	struct service *s = &m->services[flow];
	struct channel *c = &m->channels[s->channel];
	const struct block b = {
		.flow = flow,
		.bytes = s->bytes,
		.sid = sid_state_of(m, flow, 0, s->channel)->sid,
		.minislots = (uint16_t)grant_minislots(m, flow),
		.kind = BLOCK_UNSOLICITED,
	};

	for (uint32_t i = 0; i < s->grants; i++) {
		if (is_front(c, s) ? front_block(m, s->channel, &b) : pin(m, flow, &b))
			grant_count(m, flow, &b);
		else
			c->counts.missed++;
	}
	s->next += s->interval;
}

void service_run(struct maps *m, uint32_t flow) {
	struct service *s = &m->services[flow];
	const struct channel *c = &m->channels[s->channel];

	if (m->flows[flow].type == MAPS_UNSOLICITED_ACTIVITY && m->now > s->used &&
	    m->now - s->used > s->timeout)
		s->silent = true;
	for (;;) {
		uint64_t number = map_of(m, flow);

		if (number < c->number)
			skip(m, flow);
		else if (number > c->number || !has_bit(m->in_round, s->channel))
			break;
		else if (is_polled(m, flow))
			poll(m, flow);
		else
			grant(m, flow);
	}
	set_timer(m, flow);
}

void service_note_activity(struct maps *m, uint32_t flow, uint64_t now) {
	struct service *s = &m->services[flow];
	const struct channel *c = &m->channels[s->channel];

	s->used = now;
	if (!s->silent)
		return;
	s->silent = false;
	s->next = map_start(m, c, c->number);
	set_timer(m, flow);
}

void service_move(struct maps *m, uint32_t flow, uint64_t before, uint64_t start, uint64_t now) {
	struct service *s = &m->services[flow];

	s->next = start + (s->next > before ? s->next - before : 0);
	s->used = s->used < now ? s->used : now;
	set_timer(m, flow);
}
