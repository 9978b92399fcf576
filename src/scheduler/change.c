/* SPDX-License-Identifier: BSD-3-Clause */
/* Settings of a scheduler, at creation and in service. */
#include <string.h>

#include "scheduler/channels.h"
#include "scheduler/clusters.h"
#include "scheduler/internal.h"
#include "scheduler/round_robin.h"
#include "scheduler/settings.h"

#define WHY(check)                         \
	do {                               \
		const char *why = (check); \
                                           \
		if (why != NULL)           \
			return why;        \
	} while (0)

static uint64_t rate_peak_burst(uint64_t rate) {
	uint64_t burst = rate / 8 * SCHEDULER_PEAK_NS / 1000000000;

	return burst > SCHEDULER_PEAK_BURST ? burst : SCHEDULER_PEAK_BURST;
}

/* The longest packet that fits all buckets of the flow itself. */
static uint16_t flow_own_max_packet(const struct scheduler_flow *f) {
	uint64_t max = SCHEDULER_PACKET_MAX;

	if (f->sustained.rate != 0 && f->sustained.burst < max)
		max = f->sustained.burst;
	if (f->peak != 0 && rate_peak_burst(f->peak) < max)
		max = rate_peak_burst(f->peak);
	return (uint16_t)max;
}

static uint8_t flow_own_rates(const struct scheduler_flow *f) {
	return (uint8_t)((f->sustained.rate != 0 ? FLOW_SUSTAINED : 0) |
			 (f->peak != 0 ? FLOW_PEAK : 0) |
			 (f->reserved != 0 ? FLOW_RESERVATION : 0));
}

/* Applies the modem's aggregate rate to the flow. */
static void flow_limit(struct scheduler *s, uint32_t flow, const struct modem *m) {
	const bool limited = m->aggregate.cost != 0;
	struct flow *f = &s->flows[flow];

	f->max_packet = s->own_max_packet[flow];
	if (limited && m->max_packet < f->max_packet)
		f->max_packet = (uint16_t)m->max_packet;
	f->rates = (uint8_t)((f->rates & ~FLOW_AGGREGATE) | (limited ? FLOW_AGGREGATE : 0));
}

/* The class of the modem's flows with this group and priority, or else a free one. */
static uint32_t class_find(struct scheduler *s, const struct scheduler_flow *f) {
	uint32_t other = s->modems[f->modem].first_flow, class = s->free_class;

	for (; other != NONE; other = s->next_of_modem[other]) {
		const struct class *c = &s->classes[s->flows[other].class];

		if (c->group == f->group && c->priority == f->priority)
			return s->flows[other].class;
	}
	s->free_class = s->classes[s->free_class].link.next;
	return class;
}

static void class_join(struct scheduler *s, const struct scheduler_flow *f, uint32_t flow) {
	struct modem *m = &s->modems[f->modem];
	uint32_t class = class_find(s, f);
	struct class *c = &s->classes[class];

	if (c->users++ == 0) {
		*c = (struct class){
			.flows = NONE,
			.group = f->group,
			.modem = f->modem,
			.users = 1,
			.priority = f->priority,
		};
	}
	s->groups[f->group].users++;
	s->flows[flow].class = class;
	s->next_of_modem[flow] = m->first_flow;
	m->first_flow = flow;
}

/* Removes the flow from its class, and ends a class without flows. */
static void class_part(struct scheduler *s, uint32_t flow) {
	uint32_t class = s->flows[flow].class;
	struct class *c = &s->classes[class];
	uint32_t *at = &s->modems[c->modem].first_flow;

	while (*at != flow)
		at = &s->next_of_modem[*at];
	*at = s->next_of_modem[flow];
	s->groups[c->group].users--;
	if (--c->users == 0) {
		class_withdraw(s, class);
		c->link.next = s->free_class;
		s->free_class = class;
	}
}

/* Sets a reserved rate. Its credit or debt stays the same in bytes. */
static void reserve_set(const struct scheduler *s, struct reserve *r, uint64_t cost) {
	int64_t ahead = more(r->due - s->now, -RESERVED_SAVED);

	r->due = s->now + settings_rescale(ahead, r->cost, cost);
	r->cost = cost;
}

/* Clears all state of the flow that had this index before. */
static void flow_begin(struct scheduler *s, uint32_t flow) {
	struct flow *f = &s->flows[flow];

	f->sustained.cost = f->peak.cost = s->reserves[flow].cost = 0;
	f->sequence = s->first_number;
	f->credit = 0;
	f->last_sent = s->now;
	f->granted_packets = f->granted_bytes = 0;
	memset(s->drops[flow], 0, sizeof(s->drops[flow]));
}

static void flow_fill(struct scheduler *s, uint32_t flow, const struct scheduler_flow *set) {
	struct flow *f = &s->flows[flow];
	struct reserve *r = &s->reserves[flow];

	f->weight = set->weight;
	f->buffers[0] = set->min_buffer;
	f->buffers[1] = set->buffer;
	f->buffers[2] = set->max_buffer;
	s->own_max_packet[flow] = flow_own_max_packet(set);
	f->aqm = (uint8_t)set->aqm;
	f->header_bytes = (uint8_t)set->header_bytes;
	f->rates = flow_own_rates(set);
	flow_limit(s, flow, &s->modems[set->modem]);
	settings_bucket(&f->sustained, set->sustained.rate, set->sustained.burst, s->now);
	settings_bucket(&f->peak, set->peak, rate_peak_burst(set->peak), s->now);
	reserve_set(s, r, byte_cost(set->reserved));
	r->packet = set->reserved_packet;
}

const char *scheduler_set_flow(struct scheduler *s, uint32_t flow,
			       const struct scheduler_flow *set) {
	struct flow *f;
	uint8_t aqm;
	bool is_new;

	if (flow >= s->flow_count)
		return "there is no such flow";
	WHY(settings_flow(set, s->group_count, s->modem_count));
	if (set->group != SCHEDULER_NONE && s->groups[set->group].channel_count == 0)
		return "a flow has a bonding group without a channel";
	f = &s->flows[flow];
	if (set->group == SCHEDULER_NONE && f->packets > 0)
		return "a flow with queued packets cannot be removed";
	is_new = f->state == FLOW_UNUSED;
	aqm = f->aqm;
	if (is_new) {
		flow_begin(s, flow);
	} else {
		rr_leave(s, flow);
		reserve_withdraw(s, flow);
		class_part(s, flow);
	}
	f->state = FLOW_UNUSED;
	if (set->group != SCHEDULER_NONE) {
		class_join(s, set, flow);
		flow_fill(s, flow, set);
		f->state = FLOW_IDLE;
	}
	aqm_set(&s->aqm[flow], set, is_new || set->aqm != aqm, s->now);
	if (f->packets > 0)
		rr_enter(s, flow, s->now);
	return NULL;
}

const char *scheduler_set_modem(struct scheduler *s, uint32_t modem,
				const struct scheduler_modem *set) {
	struct modem *m;

	if (modem >= s->modem_count)
		return "there is no such modem";
	WHY(settings_modem(set));
	m = &s->modems[modem];
	settings_bucket(&m->aggregate, set->aggregate.rate, set->aggregate.burst, s->now);
	m->aggregate.full_at = less(m->aggregate.full_at, s->now + 2 * m->aggregate.depth);
	m->max_packet = set->aggregate.burst < SCHEDULER_PACKET_MAX ? (uint32_t)set->aggregate.burst
								    : SCHEDULER_PACKET_MAX;
	for (uint32_t f = m->first_flow; f != NONE; f = s->next_of_modem[f])
		flow_limit(s, f, m);
	if (!modem_is_open(m)) /* the new limits may admit it now */
		wheel_set(&s->wheel, modem_timer(s, modem), s->now);
	return NULL;
}

const char *scheduler_set_group(struct scheduler *s, uint32_t group,
				const struct scheduler_group *set) {
	struct group *g;

	if (group >= s->group_count)
		return "there is no such bonding group";
	WHY(settings_group(set, s->channel_count));
	for (size_t i = 0; i < set->channel_count; i++) {
		if (s->channels[set->channels[i]].cost == 0)
			return "a bonding group has a channel without a rate";
	}
	g = &s->groups[group];
	if (set->channel_count == 0 && g->users > 0)
		return "a bonding group with flows has no channel";
	if (g->channel_count == 0)
		g->report = (struct scheduler_group_report){0};
	clusters_set_channels(s, group, set);
	clusters_change(s);
	return NULL;
}

const char *scheduler_set_channel(struct scheduler *s, uint32_t channel,
				  const struct scheduler_channel *set) {
	struct channel *c;
	uint64_t cost;

	if (channel >= s->channel_count)
		return "there is no such channel";
	WHY(settings_channel(set));
	if (set->rate == 0 && s->channels[channel].groups > 0)
		return "a channel of a bonding group has no rate";
	c = &s->channels[channel];
	cost = byte_cost(set->rate);
	if (c->cost == 0)
		c->packets = c->bytes = 0;
	c->busy_until = s->now + settings_rescale(more(c->busy_until - s->now, 0), c->cost, cost);
	s->free_at[channel] = (c->busy_until & ~(int64_t)CHANNEL_MASK) | channel;
	c->cost = cost;
	c->depi = set->depi;
	c->flush = set->depi.flush_ns < TICKS_MAX / TICKS_PER_NS ? NS_TICKS(set->depi.flush_ns)
								 : TICKS_MAX;
	c->space = 0;
	clusters_recheck(s);
	return NULL;
}

const char *scheduler_set_rate_limit(struct scheduler *s, uint64_t rate_limit) {
	uint64_t cost = byte_cost(rate_limit);

	WHY(settings_rate(rate_limit));
	s->limit.full_at =
		s->now + settings_rescale(more(s->limit.full_at - s->now, 0), s->limit.cost, cost);
	if ((cost != 0) != (s->limit.cost != 0))
		clusters_change(s);
	s->limit.cost = cost;
	clusters_recheck(s);
	return NULL;
}
