/* SPDX-License-Identifier: BSD-3-Clause */
/* Checks grants by the state of the model, with the tolerances of scheduler_lockstep.h. */
#include "scheduler_lockstep.h"

#define LEAD ((model_work)SCHEDULER_LEAD_NS)

static model_work needed(const struct model_bucket *b, uint32_t bytes) {
	model_work work = MODEL_BYTE * bytes;

	return work < b->cap ? work : b->cap;
}

static model_work slack(const struct model_bucket *b) {
	return LOCKSTEP_SLACK + b->tolerance;
}

/* The time whose state must have taken effect by now. */
static uint64_t effective_time(const struct model *m, uint64_t since) {
	return m->now - since > LOCKSTEP_SLOP_NS ? m->now - LOCKSTEP_SLOP_NS : since;
}

static bool perhaps_admits(const struct model *m, const struct model_bucket *b, uint32_t bytes) {
	return b->rate == 0 || model_level(b, m->now) + slack(b) >= needed(b, bytes);
}

static bool surely_admits(const struct model *m, const struct model_bucket *b, uint32_t bytes) {
	uint64_t t = effective_time(m, b->since);
	model_work level = model_level(b, t);

	if (m->now - b->changed < LOCKSTEP_SLOP_NS)
		return false;
	if (MODEL_BYTE * bytes > b->cap) /* of before a change: as if the bucket were larger */
		level = b->level + (model_work)b->rate * (t - b->since);
	else if (level == b->cap) /* full, whatever is rounded */
		return true;
	return b->rate == 0 || level - slack(b) >= MODEL_BYTE * bytes;
}

uint64_t end_tolerance(const struct model *m, const struct model_line *l) {
	return LOCKSTEP_TIE_NS + model_tolerance(l, m->now);
}

static bool perhaps_open(const struct model *m, const struct model_line *l) {
	return l->rate == 0 || model_ahead(l, m->now) <= (LEAD + end_tolerance(m, l)) * l->rate;
}

static bool surely_within(const struct model *m, const struct model_line *l, uint64_t ns) {
	model_work limit = (model_work)ns - (model_work)end_tolerance(m, l);

	return l->rate == 0 || model_ahead(l, m->now) <= limit * l->rate;
}

static bool perhaps_reserved(const struct model *m, const struct model_flow *f) {
	return f->set.reserved > 0 && model_level(&f->reserved, m->now) + slack(&f->reserved) >= 0;
}

static bool surely_reserved(const struct model *m, const struct model_flow *f) {
	return f->set.reserved > 0 && m->now - f->reserved.changed >= LOCKSTEP_SLOP_NS &&
	       model_level(&f->reserved, effective_time(m, f->reserved.since)) >=
		       slack(&f->reserved);
}

/* If a modem's bucket does not admit its next packet, all its flows wait for that packet, so that
 * short packets do not starve long ones. It surely sends when the bucket admits its longest. */
static bool surely_modem(const struct model *m, uint32_t modem) {
	const struct model_bucket *b = &m->modems[modem];
	uint32_t longest = 0;
	model_work level;

	for (uint32_t f = 0; f < m->flow_count; f++) {
		const struct model_flow *other = &m->flows[f];

		if (other->set.modem == modem && other->count > 0 && other->list[0].bytes > longest)
			longest = other->list[0].bytes;
	}
	if (m->now - b->changed < LOCKSTEP_SLOP_NS)
		return false;
	if (m->now - b->since >= LOCKSTEP_SLOP_NS)
		return surely_admits(m, b, longest);
	/* other flows used it meanwhile: it had the present level, less the inflow */
	level = model_level(b, m->now) - (model_work)b->rate * LOCKSTEP_SLOP_NS;
	return b->rate == 0 || level - slack(b) >= needed(b, longest);
}

static bool in_use(const struct model_flow *f) {
	return f->set.group != SCHEDULER_NONE && f->count > 0;
}

bool surely_ready(const struct model *m, uint32_t flow) {
	const struct model_flow *f = &m->flows[flow];
	uint32_t bytes = f->list[0].bytes;

	return in_use(f) && surely_admits(m, &f->sustained, bytes) &&
	       surely_admits(m, &f->peak, bytes) &&
	       (surely_reserved(m, f) || surely_modem(m, f->set.modem));
}

int surely_in_queue(const struct model *m, uint32_t flow, uint64_t ns) {
	const struct model_flow *f = &m->flows[flow];
	bool open = false;

	if (!surely_ready(m, flow))
		return -1;
	for (size_t i = 0; i < m->groups[f->set.group].count; i++)
		open |= surely_within(m, &m->channels[m->groups[f->set.group].list[i]].line, ns);
	if (!open)
		return -1;
	return surely_reserved(m, f) ? MODEL_RESERVED : f->set.priority;
}

int perhaps_in_queue(const struct model *m, uint32_t flow) {
	const struct model_flow *f = &m->flows[flow];
	uint32_t bytes = f->list[0].bytes;

	if (!in_use(f) || !perhaps_admits(m, &f->sustained, bytes) ||
	    !perhaps_admits(m, &f->peak, bytes) || !perhaps_open(m, &m->limit))
		return -1;
	if (perhaps_reserved(m, f))
		return MODEL_RESERVED;
	return perhaps_admits(m, &m->modems[f->set.modem], bytes) ? f->set.priority : -1;
}

/* Whether channel a surely has sent its work before channel b. */
static bool surely_before(const struct model *m, uint32_t a, uint32_t b) {
	const struct model_line *la = &m->channels[a].line, *lb = &m->channels[b].line;
	model_work ahead_a = model_ahead(la, m->now), ahead_b = model_ahead(lb, m->now);

	if (ahead_b == 0) /* of idle ones the lowest index, if it surely is idle */
		return a < b && la->work + (model_work)end_tolerance(m, la) * la->rate <=
					(model_work)la->rate * (m->now - la->since);
	ahead_a += (model_work)(end_tolerance(m, la) + end_tolerance(m, lb)) * la->rate;
	return ahead_a * lb->rate < ahead_b * la->rate;
}

static const char *check_channel(const struct model *m, const struct model_flow *f, uint32_t c) {
	const struct model_group *g = &m->groups[f->set.group];
	bool member = false;

	for (size_t i = 0; i < g->count; i++)
		member |= g->list[i] == c;
	if (!member)
		return "the channel is not of the flow's group";
	if (!perhaps_open(m, &m->channels[c].line))
		return "the channel has more work than the lead";
	for (size_t i = 0; i < g->count; i++) {
		if (surely_before(m, g->list[i], c))
			return "another channel of the group is free earlier";
	}
	return NULL;
}

const char *check_grant(const struct model *m, const struct scheduler_grant *g) {
	const struct model_flow *f;

	if (g->flow >= m->flow_count || g->channel >= m->channel_count)
		return "no such flow or channel";
	f = &m->flows[g->flow];
	if (!in_use(f))
		return "the flow has no packet";
	if (f->list[0].packet != g->packet)
		return "not the first packet of its flow";
	if (f->sequence != g->sequence)
		return "not the next number of its flow";
	if (perhaps_in_queue(m, g->flow) < 0)
		return "the rates do not allow it";
	return check_channel(m, f, g->channel);
}

int find_overlooked_flow(const struct model *m) {
	const uint64_t rested = SCHEDULER_WAKE_NS - LOCKSTEP_SLOP_NS;

	if (!surely_within(m, &m->limit, rested))
		return -1;
	for (uint32_t f = 0; f < m->flow_count; f++) {
		if (surely_in_queue(m, f, rested) >= 0)
			return (int)f;
	}
	return -1;
}

/* The class queue of a grant, as far as it is known. */
struct granted_queue {
	int queue; /* the highest possible */
	bool surely_lower, perhaps_lower; /* than one that could have been served */
};

static uint64_t lower_bytes_after(uint64_t lower_bytes, uint32_t bytes) {
	uint64_t cost = (uint64_t)bytes * MODEL_LOWER_COST;

	return lower_bytes > cost ? lower_bytes - cost : 0;
}

static void check_starvation(struct lockstep *l, uint32_t group, const struct granted_queue *grant,
			     const bool *ready, uint32_t bytes) {
	const uint64_t rotation = l->m->group_count * MODEL_CLASS_QUEUES;

	for (int k = 0; k < MODEL_CLASS_QUEUES; k++) {
		struct lockstep_starved *w = &l->starved[group][k];

		if (k == grant->queue || !ready[k]) {
			*w = (struct lockstep_starved){0};
			continue;
		}
		w->bytes = grant->perhaps_lower || grant->queue < k
				   ? lower_bytes_after(w->bytes, bytes)
				   : w->bytes + bytes;
		w->other_packets += grant->surely_lower;
		if (w->bytes > MODEL_LOWER_SHARE + LOCKSTEP_BATCHES * l->c.longest)
			lockstep_fail(l, "starved class queue, bytes", (uint64_t)k, w->bytes);
		if (w->other_packets > rotation)
			lockstep_fail(l, "starved class queue, packets", (uint64_t)k,
				      w->other_packets);
	}
}

/* A lower class queue is served before a higher one only when its cluster has MODEL_LOWER_SHARE
 * bytes. Then it is, in rotation. A flow may be in either class queue after a change. */
void check_class_queue(struct lockstep *l, uint32_t flow, uint32_t channel, uint32_t bytes) {
	const struct model *m = l->m;
	const struct model_line *line = &m->channels[channel].line;
	uint64_t within = (uint64_t)(model_ahead(line, m->now) / line->rate);
	uint32_t group = m->flows[flow].set.group;
	struct granted_queue grant = {.queue = perhaps_in_queue(m, flow)};
	bool ready[MODEL_CLASS_QUEUES] = {false};
	uint64_t lower_bytes = 0;
	int top = -1;

	for (uint32_t f = 0; f < m->flow_count; f++) {
		int k = surely_in_queue(m, f, within);

		if (m->flows[f].set.group == SCHEDULER_NONE ||
		    !model_same_cluster(m, m->flows[f].set.group, group))
			continue;
		grant.perhaps_lower |= perhaps_in_queue(m, f) > m->flows[flow].set.priority;
		if (k < 0)
			continue;
		ready[k] = true;
		top = k > top ? k : top;
	}
	grant.surely_lower = grant.queue < top;
	for (uint32_t g = 0; g < m->group_count; g++) {
		if (!model_same_cluster(m, g, group))
			continue;
		if (l->lower_bytes[g] > lower_bytes)
			lower_bytes = l->lower_bytes[g];
		if (grant.surely_lower)
			l->lower_bytes[g] = lower_bytes_after(l->lower_bytes[g], bytes);
		else if (l->lower_bytes[g] < MODEL_LOWER_SHARE + LOCKSTEP_BATCHES * l->c.longest)
			l->lower_bytes[g] += bytes;
		check_starvation(l, g, &grant, ready, bytes);
	}
	if (grant.surely_lower && lower_bytes < MODEL_LOWER_SHARE)
		lockstep_fail(l, "a lower class queue before a higher", (uint64_t)grant.queue,
			      (uint64_t)top);
}
