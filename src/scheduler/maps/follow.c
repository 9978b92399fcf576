/* SPDX-License-Identifier: BSD-3-Clause */
/* A clock that was set back: MAPs, timers and rates follow it. Owed bytes stay. */
#include "scheduler/maps/internal.h"

static uint64_t first_in_time(const struct maps *m, const struct channel *c, uint64_t now) {
	uint64_t earliest = now + c->set.lead;

	return earliest > m->start ? (earliest - m->start + c->length - 1) / c->length : 0;
}

void channel_start(struct maps *m, uint32_t channel, uint64_t now) {
	struct channel *c = &m->channels[channel];

	c->number = first_in_time(m, c, now);
	c->initial_at = map_start(m, c, c->number);
	m->req_states[channel].acked = 0;
}

/* Whether a channel would continue with an earlier MAP. Before the configured start, channels may
 * already wait for their first one. */
static bool goes_back(const struct maps *m, uint64_t now) {
	for (uint32_t i = 0; i < m->channel_count; i++)
		if (first_in_time(m, &m->channels[i], now) < m->channels[i].number)
			return true;
	return false;
}

static void move_bucket(struct bucket *b, uint64_t from, uint64_t to) {
	bucket_fill(b, from);
	b->at = to;
}

static void move_limits(struct maps *m, uint32_t flow, uint64_t now) {
	struct flow *f = &m->flows[flow];
	struct limits *l = &m->limits[flow];
	uint8_t has = f->limits;

	if (has & LIMIT_SUSTAINED)
		move_bucket(&f->sustained, m->now, now);
	if (has & LIMIT_PEAK)
		move_bucket(&l->peak, m->now, now);
	if (has & LIMIT_RESERVED)
		move_bucket(&l->reserved, m->now, now);
}

static bool has_service(const struct maps *m, uint32_t flow) {
	return m->flows[flow].state != FLOW_UNUSED && m->flows[flow].type != MAPS_BEST_EFFORT;
}

/* Looks at all flows, which is rare. Service timers are set again one by one. */
void follow_back(struct maps *m, uint64_t now) {
	uint64_t before[MAPS_MAX_CHANNELS];

	if (!goes_back(m, now))
		return;
	for (uint32_t f = 0; f < m->flow_count; f++) {
		move_limits(m, f, now);
		timers_clear(&m->timers, timer_of(m, TIMER_SERVICE, f));
	}
	timers_move(&m->timers, m->now, now);
	for (uint32_t i = 0; i < m->channel_count; i++) {
		before[i] = map_start(m, &m->channels[i], m->channels[i].number);
		channel_start(m, i, now);
	}
	m->now = now;
	for (uint32_t f = 0; f < m->flow_count; f++) {
		uint32_t i = m->services[f].channel;

		if (has_service(m, f))
			service_move(m, f, before[i],
				     map_start(m, &m->channels[i], m->channels[i].number), now);
	}
}
