/* SPDX-License-Identifier: BSD-3-Clause */
/* Rounds: make the MAPs of all channels that are due at the same time. */
#include "scheduler/maps/lists.h"

static void start(struct maps *m, uint64_t now) {
	for (uint32_t i = 0; i < m->channel_count; i++)
		channel_start(m, i, now);
	m->started = true;
}

/* Skips MAPs whose slack has passed, and counts them as late. */
static void skip_late(struct maps *m, struct channel *c, uint64_t now) {
	uint64_t last = map_due(m, c, c->number) + c->set.slack, late;

	if (now <= last)
		return;
	late = (now - last + c->length - 1) / c->length;
	c->number += late;
	c->counts.late += late;
}

/* Finds the earliest due time, and the channels whose next MAP has it. */
static void find_due(struct maps *m) {
	m->due = UINT64_MAX;
	m->in_round = 0;
	for (uint32_t i = 0; i < m->channel_count; i++) {
		uint64_t due = map_due(m, &m->channels[i], m->channels[i].number);

		if (due < m->due) {
			m->due = due;
			m->in_round = 0;
		}
		if (due == m->due)
			m->in_round |= UINT64_C(1) << i;
	}
}

/* Handles the flows' timers that have expired at the time of the round. */
static void expire(struct maps *m) {
	uint32_t timer;

	while ((timer = timers_pop(&m->timers, m->now)) != TIMER_NONE) {
		uint32_t flow = timer % m->flow_count;
		struct flow *f = &m->flows[flow];

		switch (timer / m->flow_count) {
		case TIMER_RATE:
			flow_idle(m, flow);
			flow_ready(m, flow);
			break;
		case TIMER_RESERVED:
			if (f->state == FLOW_READY && !f->is_reserved)
				reserved_join(m, flow);
			break;
		default: service_run(m, flow);
		}
	}
}

static void make_round(struct maps *m) {
	m->now = m->due;
	m->round++;
	m->open = 0;
	for (uint64_t left = m->in_round; left != 0; left &= left - 1)
		channel_open(m, first_bit(left));
	expire(m);
	for (uint64_t left = m->in_round; left != 0; left &= left - 1)
		channel_begin_data(m, first_bit(left));
	share(m);
	add_pending(m);
	m->ready = m->in_round;
	for (uint64_t left = m->in_round; left != 0; left &= left - 1) {
		channel_end_data(m, first_bit(left));
		m->channels[first_bit(left)].number++;
	}
	find_due(m);
}

uint64_t maps_due(const struct maps *m) {
	return m->ready != 0 ? m->now : m->due;
}

uint64_t maps_last_due(const struct maps *m) {
	return m->now;
}

uint32_t maps_make(struct maps *m, uint64_t now, struct map *out) {
	uint32_t channel;

	now = now < TIME_END ? now : TIME_END;
	if (!m->started)
		start(m, now);
	if (m->ready == 0) {
		if (m->due > now + m->setback_limit)
			follow_back(m, now);
		for (uint32_t i = 0; i < m->channel_count; i++)
			skip_late(m, &m->channels[i], now);
		find_due(m);
		if (m->due > now)
			return MAPS_NONE;
		make_round(m);
	}
	channel = first_bit(m->ready);
	m->ready &= m->ready - 1;
	lay_out(m, channel, out);
	return channel;
}
