/* SPDX-License-Identifier: BSD-3-Clause */
/* The lists and the round robin of the model. */
#include <string.h>

#include "maps_model.h"

#define QUANTUM 2048
#define BYTE ((__int128)8 * MAPS_HZ)
#define RESERVED MAPS_PRIORITIES

static struct model_group *group_of(struct model *m, int flow) {
	return &m->groups[m->flows[flow].groups[m->flows[flow].cluster]];
}

static void list_add(struct model_list *l, int flow) {
	l->flows[l->count++] = flow;
}

static void list_remove(struct model_list *l, int flow) {
	for (int i = 0; i < l->count; i++) {
		if (l->flows[i] != flow)
			continue;
		memmove(&l->flows[i], &l->flows[i + 1],
			(size_t)(l->count - i - 1) * sizeof(l->flows[0]));
		l->count--;
		l->left = l->left < l->count ? l->left : l->count;
		return;
	}
}

void model_join(struct model *m, int flow, int level) {
	struct model_list *l = &group_of(m, flow)->lists[level];

	list_add(l, flow);
	if (l->count == 1) {
		l->left = 1;
		l->round = l->round < m->served[level] ? m->served[level] : l->round;
		l->round = l->round > m->served[level] + 8 ? m->served[level] + 8 : l->round;
	}
	if (level == RESERVED)
		m->flows[flow].in_reserved = true;
}

void model_ready(struct model *m, int flow) {
	struct model_flow *f = &m->flows[flow];

	f->state = MODEL_READY;
	f->credit = 0;
	model_join(m, flow, f->set.priority);
	if (f->set.reserved != 0)
		model_join(m, flow, RESERVED);
}

void model_leave_lists(struct model *m, int flow) {
	struct model_flow *f = &m->flows[flow];

	for (int level = 0; level < MODEL_LEVELS; level++)
		list_remove(&group_of(m, flow)->lists[level], flow);
	list_remove(&group_of(m, flow)->parked, flow);
	f->in_reserved = false;
	f->parked_until = f->reserved_at = 0;
	f->credit = 0;
	f->state = MODEL_IDLE;
}

void model_charge(struct model_flow *f, uint32_t bytes) {
	f->owed[f->cluster] -= bytes;
	for (int i = 0; i < MODEL_RATES; i++) {
		struct model_bucket *b = &f->rates[i];

		b->tokens -= bytes * BYTE;
		b->tokens = b->tokens < -b->depth ? -b->depth : b->tokens;
	}
}

void model_next_cluster(struct model *m, int flow) {
	struct model_flow *f = &m->flows[flow];

	model_leave_lists(m, flow);
	for (size_t i = 1; i < f->set.cluster_count; i++) {
		uint32_t cluster = (uint32_t)((f->cluster + i) % f->set.cluster_count);

		if (f->owed[cluster] > 0) {
			f->cluster = cluster;
			model_ready(m, flow);
			return;
		}
	}
}

static bool group_is_open(const struct model *m, const struct model_group *s) {
	for (uint32_t i = 0; i < m->channel_count; i++)
		if ((s->mask >> i & 1) && m->channels[i].open)
			return true;
	return false;
}

/* The open set in the earliest round. Limits the leads of the others to 8 rounds. */
static struct model_group *next_group(struct model *m, int level) {
	struct model_group *best = NULL;

	for (int i = 0; i < MODEL_GROUPS; i++) {
		struct model_group *s = &m->groups[i];

		if (s->lists[level].count > 0 && group_is_open(m, s) &&
		    (best == NULL || s->lists[level].round < best->lists[level].round))
			best = s;
	}
	for (int i = 0; best != NULL && i < MODEL_GROUPS; i++) {
		struct model_group *s = &m->groups[i];

		if (s->lists[level].count > 0 && group_is_open(m, s) &&
		    s->lists[level].round > best->lists[level].round + 8)
			s->lists[level].round = best->lists[level].round + 8;
	}
	return best;
}

/* When a bucket has `bytes`. Now or earlier: it has. */
static uint64_t bucket_time(const struct model *m, const struct model_bucket *b, uint32_t bytes) {
	__int128 lacks = bytes * BYTE - b->tokens;

	return lacks <= 0 ? m->now : m->now + (uint64_t)((lacks + b->rate - 1) / b->rate);
}

static uint32_t smaller(uint32_t a, __int128 b) {
	return b < a ? (uint32_t)b : a;
}

/* Bytes that the flow may get now. 0: the flow has left the list. */
static uint32_t flow_allowance(struct model *m, int flow, int level) {
	struct model_flow *f = &m->flows[flow];
	uint32_t owed = f->owed[f->cluster], needs = smaller(owed, QUANTUM), allowed;
	uint64_t at = m->now;

	if (level == RESERVED) {
		const struct model_bucket *b = &f->rates[MODEL_RESERVED];

		if (bucket_time(m, b, needs) > m->now) {
			f->reserved_at = bucket_time(m, b, needs);
			f->in_reserved = false;
			list_remove(&group_of(m, flow)->lists[RESERVED], flow);
			return 0;
		}
		allowed = smaller(needs, b->tokens / BYTE);
	} else {
		f->credit = f->credit == 0 ? QUANTUM : f->credit;
		allowed = smaller(owed, f->credit);
	}
	for (int i = MODEL_SUSTAINED; i <= MODEL_PEAK; i++) {
		const struct model_bucket *b = &f->rates[i];

		if (b->rate == 0)
			continue;
		at = bucket_time(m, b, needs) > at ? bucket_time(m, b, needs) : at;
		allowed = b->tokens < 0 ? 0 : smaller(allowed, b->tokens / BYTE);
	}
	if (at == m->now)
		return allowed;
	model_leave_lists(m, flow);
	f->state = MODEL_PARKED;
	f->parked_until = at;
	list_add(&group_of(m, flow)->parked, flow);
	return 0;
}

/* Bytes that one grant of the flow can have on the channel. */
static uint32_t grant_capacity(const struct model_flow *f, const struct model_channel *c,
			       const struct model_grant *g) {
	uint32_t minislots = g->minislots + c->free;
	uint32_t bytes;

	if (c->set.max_burst_minislots != 0)
		minislots = smaller(minislots, c->set.max_burst_minislots);
	bytes = (minislots - c->set.burst_minislots) * c->set.minislot_bytes - f->set.header_bytes;
	if (f->set.max_burst != 0)
		bytes = smaller(bytes, f->set.max_burst - f->set.header_bytes);
	return bytes;
}

/* Whether no channel has more free by a sixteenth of a MAP. */
static bool is_near(const struct model_channel *c, uint64_t most) {
	return (uint64_t)c->free * c->set.minislot_bytes +
		       c->minislots * c->set.minislot_bytes / 16 >=
	       most;
}

/* The channel of the next grant: of the latest one if nearly the most is free there. -1: none. */
static int channel_for(struct model *m, struct model_flow *f, struct model_group *s) {
	bool latest = false, current = false;
	uint64_t space = 0;
	int best = -1;

	for (uint32_t i = 0; i < m->channel_count; i++) {
		struct model_channel *c = &m->channels[i];
		const struct model_grant *g = &f->grants[f->cluster][i];

		if (!(s->mask >> i & 1) || !c->open || grant_capacity(f, c, g) == g->bytes)
			continue;
		latest = latest || (f->granted && i == f->latest);
		current = current || (int)i == s->current;
		if ((uint64_t)c->free * c->set.minislot_bytes > space) {
			space = (uint64_t)c->free * c->set.minislot_bytes;
			best = (int)i;
		}
	}
	if (latest && is_near(&m->channels[f->latest], space))
		return (int)f->latest;
	if (current && is_near(&m->channels[s->current], space))
		return s->current;
	if (best >= 0)
		s->current = best;
	return best;
}

static uint32_t grant_data(struct model *m, int flow, uint32_t allowed) {
	struct model_flow *f = &m->flows[flow];
	uint32_t granted_bytes = 0;
	int at;

	while (granted_bytes < allowed && (at = channel_for(m, f, group_of(m, flow))) >= 0) {
		struct model_channel *c = &m->channels[at];
		struct model_grant *g = &f->grants[f->cluster][at];
		uint32_t more = smaller(allowed - granted_bytes,
					grant_capacity(f, c, g) - g->bytes),
			 before = g->minislots;

		if (g->order == 0) {
			c->slots--;
			g->order = ++c->data_count;
		}
		g->bytes += more;
		g->minislots = model_minislots(c, g->bytes + f->set.header_bytes);
		c->data[g->order - 1] = (struct model_item){
			.kind = MODEL_DATA,
			.sid = f->sids[f->cluster][at],
			.minislots = g->minislots,
			.bytes = g->bytes,
			.header = f->set.header_bytes,
		};
		model_use_minislots(c, g->minislots - before);
		f->granted = true;
		f->latest = (uint32_t)at;
		granted_bytes += more;
	}
	m->granted += granted_bytes;
	return granted_bytes;
}

/* Serves the first flow of a list. Returns whether it has to wait for the next round. */
static bool serve_flow(struct model *m, struct model_group *s, int level) {
	struct model_list *l = &s->lists[level];
	int flow = l->flows[0], left = l->left - 1;
	struct model_flow *f = &m->flows[flow];
	uint32_t allowed = flow_allowance(m, flow, level), granted_bytes;
	bool full = false;

	if (allowed > 0) {
		granted_bytes = grant_data(m, flow, allowed);
		model_charge(f, granted_bytes);
		if (level != RESERVED)
			f->credit -= granted_bytes;
		if (granted_bytes < allowed && !group_is_open(m, s))
			return false;
		if (f->owed[f->cluster] == 0) {
			model_next_cluster(m, flow);
		} else if (granted_bytes < allowed) {
			full = true;
			f->credit = 0;
			list_remove(l, flow);
		} else if (level != RESERVED && f->credit > 0) {
			return false; /* its rates admit no more: found when it is served again */
		} else {
			memmove(&l->flows[0], &l->flows[1],
				(size_t)(l->count - 1) * sizeof(l->flows[0]));
			l->flows[l->count - 1] = flow;
		}
	}
	l->left = left < l->count ? left : l->count;
	return full;
}

void model_share(struct model *m) {
	for (int i = 0; i < MODEL_GROUPS; i++)
		m->groups[i].current = -1;
	for (int level = RESERVED; level >= 0; level--) {
		int delayed[MODEL_FLOWS], count = 0;
		struct model_group *s;

		while ((s = next_group(m, level)) != NULL) {
			struct model_list *l = &s->lists[level];

			m->served[level] = l->round;
			while (l->left > 0 && group_is_open(m, s)) {
				int flow = l->flows[0];

				if (serve_flow(m, s, level))
					delayed[count++] = flow;
			}
			if (l->left == 0) {
				l->round++;
				l->left = l->count;
			}
		}
		for (int i = 0; i < count; i++)
			model_join(m, delayed[i], level);
	}
}
