/* SPDX-License-Identifier: BSD-3-Clause */
/* Whether another scheduler's grants are ones that the rules allow, by the model's knowledge. */
#include "scheduler_lockstep.h"

#define LEAD ((model_work)SCHEDULER_LEAD_NS)

static model_work needed(const struct model_bucket *b, uint32_t bytes) {
	model_work work = MODEL_BYTE * bytes;

	return work < b->cap ? work : b->cap;
}

static model_work slack(const struct model_bucket *b) {
	return LOCKSTEP_SLACK + b->beside;
}

/* The time whose state must have shown by now. */
static uint64_t shown(const struct model *m, uint64_t since) {
	return m->now - since > LOCKSTEP_SLOP_NS ? m->now - LOCKSTEP_SLOP_NS : since;
}

static bool perhaps_holds(const struct model *m, const struct model_bucket *b, uint32_t bytes) {
	return b->rate == 0 || model_level(b, m->now) + slack(b) >= needed(b, bytes);
}

static bool surely_holds(const struct model *m, const struct model_bucket *b, uint32_t bytes) {
	uint64_t t = shown(m, b->since);
	model_work level = model_level(b, t);

	if (m->now - b->changed < LOCKSTEP_SLOP_NS)
		return false;
	if (MODEL_BYTE * bytes > b->cap) /* of before a change: as if the bucket were larger */
		level = b->level + (model_work)b->rate * (t - b->since);
	else if (level == b->cap) /* a full bucket is full, however it counts */
		return true;
	return b->rate == 0 || level - slack(b) >= MODEL_BYTE * bytes;
}

uint64_t judge_tie(const struct model *m, const struct model_line *l) {
	return LOCKSTEP_TIE_NS + model_beside(l, m->now);
}

static bool perhaps_open(const struct model *m, const struct model_line *l) {
	return l->rate == 0 || model_ahead(l, m->now) <= (LEAD + judge_tie(m, l)) * l->rate;
}

static bool surely_within(const struct model *m, const struct model_line *l, uint64_t ns) {
	model_work most = (model_work)ns - (model_work)judge_tie(m, l);

	return l->rate == 0 || model_ahead(l, m->now) <= most * l->rate;
}

static bool perhaps_reserved(const struct model *m, const struct model_flow *f) {
	return f->is.reserved > 0 && model_level(&f->reserved, m->now) + slack(&f->reserved) >= 0;
}

static bool surely_reserved(const struct model *m, const struct model_flow *f) {
	return f->is.reserved > 0 && m->now - f->reserved.changed >= LOCKSTEP_SLOP_NS &&
	       model_level(&f->reserved, shown(m, f->reserved.since)) >= slack(&f->reserved);
}

/*
 * A modem whose bucket does not hold what goes next of it waits for that with all its flows, so that
 * short packets do not keep long ones from going: surely it goes on when the longest can.
 */
static bool surely_modem(const struct model *m, uint32_t modem) {
	const struct model_bucket *b = &m->modems[modem];
	uint32_t longest = 0;
	model_work level;

	for (uint32_t f = 0; f < m->flow_count; f++) {
		const struct model_flow *of = &m->flows[f];

		if (of->is.modem == modem && of->count > 0 && of->list[0].bytes > longest)
			longest = of->list[0].bytes;
	}
	if (m->now - b->changed < LOCKSTEP_SLOP_NS)
		return false;
	if (m->now - b->since >= LOCKSTEP_SLOP_NS)
		return surely_holds(m, b, longest);
	/* others took from it meanwhile: it held at least what it holds now, but for what came in */
	level = model_level(b, m->now) - (model_work)b->rate * LOCKSTEP_SLOP_NS;
	return b->rate == 0 || level - slack(b) >= needed(b, longest);
}

static bool in_use(const struct model_flow *f) {
	return f->is.group != SCHEDULER_NONE && f->count > 0;
}

bool judge_ready(const struct model *m, uint32_t flow) {
	const struct model_flow *f = &m->flows[flow];
	uint32_t bytes = f->list[0].bytes;

	return in_use(f) && surely_holds(m, &f->sustained, bytes) &&
	       surely_holds(m, &f->peak, bytes) &&
	       (surely_reserved(m, f) || surely_modem(m, f->is.modem));
}

int judge_surely(const struct model *m, uint32_t flow, uint64_t ns) {
	const struct model_flow *f = &m->flows[flow];
	bool open = false;

	if (!judge_ready(m, flow))
		return -1;
	for (size_t i = 0; i < m->groups[f->is.group].count; i++)
		open |= surely_within(m, &m->channels[m->groups[f->is.group].list[i]].line, ns);
	if (!open)
		return -1;
	return surely_reserved(m, f) ? MODEL_RESERVED : f->is.priority;
}

int judge_perhaps(const struct model *m, uint32_t flow) {
	const struct model_flow *f = &m->flows[flow];
	uint32_t bytes = f->list[0].bytes;

	if (!in_use(f) || !perhaps_holds(m, &f->sustained, bytes) ||
	    !perhaps_holds(m, &f->peak, bytes) || !perhaps_open(m, &m->limit))
		return -1;
	if (perhaps_reserved(m, f))
		return MODEL_RESERVED;
	return perhaps_holds(m, &m->modems[f->is.modem], bytes) ? f->is.priority : -1;
}

/* Whether channel a surely has sent its work before channel b. */
static bool surely_before(const struct model *m, uint32_t a, uint32_t b) {
	const struct model_line *la = &m->channels[a].line, *lb = &m->channels[b].line;
	model_work ahead_a = model_ahead(la, m->now), ahead_b = model_ahead(lb, m->now);

	if (ahead_b == 0) /* of idle ones the lowest index, if it surely is idle */
		return a < b && la->work + (model_work)judge_tie(m, la) * la->rate <=
					(model_work)la->rate * (m->now - la->since);
	ahead_a += (model_work)(judge_tie(m, la) + judge_tie(m, lb)) * la->rate;
	return ahead_a * lb->rate < ahead_b * la->rate;
}

static const char *judge_channel(const struct model *m, const struct model_flow *f, uint32_t c) {
	const struct model_group *g = &m->groups[f->is.group];
	bool found = false;

	for (size_t i = 0; i < g->count; i++)
		found |= g->list[i] == c;
	if (!found)
		return "the channel is not of the flow's group";
	if (!perhaps_open(m, &m->channels[c].line))
		return "the channel has more work than the lead";
	for (size_t i = 0; i < g->count; i++) {
		if (surely_before(m, g->list[i], c))
			return "another channel of the group is free before";
	}
	return NULL;
}

const char *judge_grant(const struct model *m, const struct scheduler_grant *g) {
	const struct model_flow *f;

	if (g->flow >= m->flow_count || g->channel >= m->channel_count)
		return "no such flow or channel";
	f = &m->flows[g->flow];
	if (!in_use(f))
		return "nothing waits there";
	if (f->list[0].packet != g->packet)
		return "not the first packet of its flow";
	if (f->sequence != g->sequence)
		return "not the next number of its flow";
	if (judge_perhaps(m, g->flow) < 0)
		return "the rates do not allow it";
	return judge_channel(m, f, g->channel);
}

int judge_left(const struct model *m) {
	const uint64_t rested = SCHEDULER_REST_NS - LOCKSTEP_SLOP_NS;

	if (!surely_within(m, &m->limit, rested))
		return -1;
	for (uint32_t f = 0; f < m->flow_count; f++) {
		if (judge_surely(m, f, rested) >= 0)
			return (int)f;
	}
	return -1;
}

/* Who goes: what counts where it is not sure. */
struct grade {
	int column; /* at best */
	bool surely_lower, perhaps_lower; /* than something that could have gone */
};

static uint64_t paid(uint64_t account, uint32_t bytes) {
	uint64_t cost = (uint64_t)bytes * MODEL_GUARD_COST;

	return account > cost ? account - cost : 0;
}

static void judge_starved(struct lockstep *l, uint32_t group, const struct grade *is,
			  const bool *waits, uint32_t bytes) {
	const uint64_t rotation = l->m->group_count * MODEL_COLUMNS;

	for (int k = 0; k < MODEL_COLUMNS; k++) {
		struct lockstep_wait *w = &l->starved[group][k];

		if (k == is->column || !waits[k]) {
			*w = (struct lockstep_wait){0};
			continue;
		}
		w->bytes = is->perhaps_lower || is->column < k ? paid(w->bytes, bytes)
							       : w->bytes + bytes;
		w->others += is->surely_lower;
		if (w->bytes > MODEL_GUARD + LOCKSTEP_BATCHES * l->c.longest)
			lockstep_fail(l, "starved column, bytes", (uint64_t)k, w->bytes);
		if (w->others > rotation)
			lockstep_fail(l, "starved column, packets", (uint64_t)k, w->others);
	}
}

/*
 * Columns: a lower one goes before a higher one only when its cluster's account has MODEL_GUARD bytes, and
 * then it does, in rotation. Flows' columns that changed a moment ago may count as either.
 */
void judge_columns(struct lockstep *l, uint32_t flow, uint32_t channel, uint32_t bytes) {
	const struct model *m = l->m;
	const struct model_line *line = &m->channels[channel].line;
	uint64_t within = (uint64_t)(model_ahead(line, m->now) / line->rate);
	uint32_t group = m->flows[flow].is.group;
	struct grade is = {.column = judge_perhaps(m, flow)};
	bool waits[MODEL_COLUMNS] = {false};
	uint64_t account = 0;
	int top = -1;

	for (uint32_t f = 0; f < m->flow_count; f++) {
		int k = judge_surely(m, f, within);

		if (m->flows[f].is.group == SCHEDULER_NONE ||
		    !model_same_cluster(m, m->flows[f].is.group, group))
			continue;
		is.perhaps_lower |= judge_perhaps(m, f) > m->flows[flow].is.priority;
		if (k < 0)
			continue;
		waits[k] = true;
		top = k > top ? k : top;
	}
	is.surely_lower = is.column < top;
	for (uint32_t g = 0; g < m->group_count; g++) {
		if (!model_same_cluster(m, g, group))
			continue;
		if (l->account[g] > account)
			account = l->account[g];
		if (is.surely_lower)
			l->account[g] = paid(l->account[g], bytes);
		else if (l->account[g] < MODEL_GUARD + LOCKSTEP_BATCHES * l->c.longest)
			l->account[g] += bytes;
		judge_starved(l, g, &is, waits, bytes);
	}
	if (is.surely_lower && account < MODEL_GUARD)
		lockstep_fail(l, "a lower column went before a higher", (uint64_t)is.column,
			      (uint64_t)top);
}
