/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/scheduler.h"

#include <stdlib.h>

#define NONE UINT32_MAX
#define NS_PER_S 1000000000ull

/* Something that passes bytes at a rate: a channel, or the whole service group. */
struct pace {
	uint64_t free_at; /* ns at which what was given so far has been sent */
	uint32_t free_at_fraction; /* of a ns, 32 bits */
	uint64_t ns_per_byte_q32; /* 0: no limit */
};

struct slot {
	void *packet;
	uint32_t bytes;
	uint32_t channel_bytes;
	uint32_t next;
};

struct queue {
	uint32_t first, last; /* slots */
	uint32_t bytes; /* waiting */
	uint32_t buffer; /* may wait */
	uint32_t group;
	uint32_t next_active; /* flow behind this one in its group's round */
	uint16_t sequence;
};

struct group {
	uint32_t first_active, last_active; /* flows with packets, in the order of the round */
	uint32_t channel_count;
	uint16_t *channels;
};

struct scheduler {
	struct pace limit;
	struct pace *channels;
	struct group *groups;
	struct queue *queues;
	struct slot *slots;
	uint16_t *group_channels;
	size_t group_count;
	size_t flow_count;
	size_t group_turn; /* where the next dequeue begins */
	uint32_t free_slot;
	uint32_t held;
};

static void pace_set(struct pace *p, uint64_t rate) {
	if (rate != 0)
		p->ns_per_byte_q32 = (uint64_t)(((unsigned __int128)(8 * NS_PER_S) << 32) / rate);
}

static bool pace_open(const struct pace *p, uint64_t now) {
	return p->free_at <= now + SCHEDULER_LEAD_NS;
}

static void pace_take(struct pace *p, uint64_t now, uint32_t bytes) {
	unsigned __int128 cost = (unsigned __int128)p->ns_per_byte_q32 * bytes;

	if (p->free_at < now) {
		p->free_at = now;
		p->free_at_fraction = 0;
	}
	cost += p->free_at_fraction;
	p->free_at += (uint64_t)(cost >> 32);
	p->free_at_fraction = (uint32_t)cost;
}

static bool config_good(const struct scheduler_config *c) {
	for (size_t g = 0; g < c->group_count; g++) {
		if (c->groups[g].channel_count == 0)
			return false;
		for (size_t i = 0; i < c->groups[g].channel_count; i++) {
			if (c->groups[g].channels[i] >= c->channel_count)
				return false;
		}
	}
	for (size_t i = 0; i < c->channel_count; i++) {
		if (c->channels[i].rate < SCHEDULER_RATE_MIN)
			return false;
	}
	for (size_t f = 0; f < c->flow_count; f++) {
		if (c->flows[f].group >= c->group_count)
			return false;
	}
	if (c->rate_limit != 0 && c->rate_limit < SCHEDULER_RATE_MIN)
		return false;
	return c->channel_count <= UINT16_MAX && c->packet_limit > 0 && c->packet_limit < NONE;
}

static void groups_fill(struct scheduler *s, const struct scheduler_config *c) {
	uint16_t *channels = s->group_channels;

	for (size_t g = 0; g < c->group_count; g++) {
		struct group *group = &s->groups[g];

		group->first_active = group->last_active = NONE;
		group->channel_count = (uint32_t)c->groups[g].channel_count;
		group->channels = channels;
		for (size_t i = 0; i < c->groups[g].channel_count; i++)
			*channels++ = (uint16_t)c->groups[g].channels[i];
	}
}

static void queues_fill(struct scheduler *s, const struct scheduler_config *c) {
	for (size_t f = 0; f < c->flow_count; f++) {
		s->queues[f] = (struct queue){
			.first = NONE,
			.last = NONE,
			.next_active = NONE,
			.buffer = c->flows[f].buffer,
			.group = c->flows[f].group,
		};
	}
	for (uint32_t i = 0; i < c->packet_limit; i++)
		s->slots[i].next = i + 1 < c->packet_limit ? i + 1 : NONE;
}

struct scheduler *scheduler_create(const struct scheduler_config *c) {
	size_t group_channels = 0;
	struct scheduler *s;

	if (!config_good(c))
		return NULL;
	for (size_t g = 0; g < c->group_count; g++)
		group_channels += c->groups[g].channel_count;
	s = calloc(1, sizeof(*s));
	if (s == NULL)
		return NULL;
	s->channels = calloc(c->channel_count, sizeof(*s->channels));
	s->groups = calloc(c->group_count, sizeof(*s->groups));
	s->group_channels = calloc(group_channels, sizeof(*s->group_channels));
	s->queues = calloc(c->flow_count, sizeof(*s->queues));
	s->slots = calloc(c->packet_limit, sizeof(*s->slots));
	if (!s->channels || !s->groups || !s->group_channels || !s->queues || !s->slots) {
		scheduler_free(s);
		return NULL;
	}
	s->group_count = c->group_count;
	s->flow_count = c->flow_count;
	pace_set(&s->limit, c->rate_limit);
	for (size_t i = 0; i < c->channel_count; i++)
		pace_set(&s->channels[i], c->channels[i].rate);
	groups_fill(s, c);
	queues_fill(s, c);
	return s;
}

void scheduler_free(struct scheduler *s) {
	if (s == NULL)
		return;
	free(s->channels);
	free(s->groups);
	free(s->group_channels);
	free(s->queues);
	free(s->slots);
	free(s);
}

/* Appends the flow to its group's round. */
static void activate(struct scheduler *s, uint32_t flow) {
	struct group *g = &s->groups[s->queues[flow].group];

	s->queues[flow].next_active = NONE;
	if (g->last_active == NONE)
		g->first_active = flow;
	else
		s->queues[g->last_active].next_active = flow;
	g->last_active = flow;
}

/* Takes the first flow out of the group's round. */
static uint32_t deactivate(struct scheduler *s, struct group *g) {
	uint32_t flow = g->first_active;

	g->first_active = s->queues[flow].next_active;
	if (g->first_active == NONE)
		g->last_active = NONE;
	return flow;
}

enum scheduler_verdict scheduler_enqueue(struct scheduler *s, uint32_t flow, void *packet,
					 uint32_t bytes, uint32_t channel_bytes) {
	struct queue *q = &s->queues[flow];
	uint32_t slot = s->free_slot;

	if (slot == NONE)
		return SCHEDULER_FULL;
	if (bytes > q->buffer - q->bytes)
		return SCHEDULER_FLOW_FULL;
	s->free_slot = s->slots[slot].next;
	s->slots[slot] = (struct slot){packet, bytes, channel_bytes, NONE};
	if (q->first == NONE) {
		q->first = slot;
		activate(s, flow);
	} else {
		s->slots[q->last].next = slot;
	}
	q->last = slot;
	q->bytes += bytes;
	s->held++;
	return SCHEDULER_QUEUED;
}

/* Takes the first packet of the flow that leads the group's round; the flow goes to the end. */
static struct slot take(struct scheduler *s, struct group *g, uint32_t *flow_taken) {
	uint32_t flow = deactivate(s, g);
	struct queue *q = &s->queues[flow];
	uint32_t index = q->first;
	struct slot slot = s->slots[index];

	q->first = slot.next;
	q->bytes -= slot.bytes;
	if (q->first != NONE)
		activate(s, flow);
	s->slots[index].next = s->free_slot;
	s->free_slot = index;
	s->held--;
	*flow_taken = flow;
	return slot;
}

/* The channel of the group that has sent its work first. */
static uint16_t first_free(const struct scheduler *s, const struct group *g) {
	uint16_t best = g->channels[0];

	for (uint32_t i = 1; i < g->channel_count; i++) {
		if (s->channels[g->channels[i]].free_at < s->channels[best].free_at)
			best = g->channels[i];
	}
	return best;
}

/* One packet of the group, if one waits and a channel takes it now. */
static bool grant(struct scheduler *s, struct group *g, uint64_t now, struct scheduler_grant *out) {
	struct slot slot;
	uint16_t channel;

	if (g->first_active == NONE)
		return false;
	channel = first_free(s, g);
	if (!pace_open(&s->channels[channel], now))
		return false;
	slot = take(s, g, &out->flow);
	pace_take(&s->channels[channel], now, slot.channel_bytes);
	pace_take(&s->limit, now, slot.channel_bytes);
	out->packet = slot.packet;
	out->channel = channel;
	out->sequence = s->queues[out->flow].sequence++;
	return true;
}

unsigned scheduler_dequeue(struct scheduler *s, uint64_t now, struct scheduler_grant *grants,
			   unsigned n) {
	size_t refused = 0; /* groups in a row that had nothing to send */
	unsigned done = 0;

	while (done < n && refused < s->group_count && pace_open(&s->limit, now)) {
		if (grant(s, &s->groups[s->group_turn], now, &grants[done])) {
			done++;
			refused = 0;
		} else {
			refused++;
		}
		s->group_turn = s->group_turn + 1 < s->group_count ? s->group_turn + 1 : 0;
	}
	return done;
}

unsigned scheduler_drain(struct scheduler *s, void **packets, unsigned n) {
	unsigned done = 0;
	uint32_t flow;

	for (size_t g = 0; g < s->group_count; g++) {
		while (done < n && s->groups[g].first_active != NONE)
			packets[done++] = take(s, &s->groups[g], &flow).packet;
	}
	return done;
}

uint32_t scheduler_held(const struct scheduler *s) {
	return s->held;
}
