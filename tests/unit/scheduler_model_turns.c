/* SPDX-License-Identifier: BSD-3-Clause */
/* How the model decides itself: who may go, whose turn it is, and over which channel. */
#include "scheduler_model.h"

#define LEAD ((model_work)SCHEDULER_LEAD_NS)

static bool holds(const struct model *m, const struct model_bucket *b, uint32_t bytes) {
	model_work needed = MODEL_BYTE * bytes;

	/* what became longer than a burst by a change goes when the bucket is full */
	if (needed > b->cap)
		needed = b->cap;
	return b->rate == 0 || model_level(b, m->now) >= needed;
}

/* The channel that will have sent its work first; -1 where all have more than the lead. */
static int first_channel(const struct model *m, const struct model_group *g) {
	int best = -1;

	if (g->rests)
		return -1;
	for (size_t i = 0; i < g->count; i++) {
		int c = (int)g->list[i];
		const struct model_line *l = &m->channels[c].line;
		model_work ahead = model_ahead(l, m->now), other;

		if (ahead > LEAD * l->rate)
			continue;
		if (best < 0) {
			best = c;
			continue;
		}
		other = model_ahead(&m->channels[best].line, m->now) * l->rate;
		ahead *= m->channels[best].line.rate;
		if (ahead < other || (ahead == other && c < best))
			best = c;
	}
	return best;
}

/* Whether a group has something to send, and no channel of its has less work than `ns`. */
static bool waits_for_channel(const struct model *m, uint32_t group, model_work ns) {
	const struct model_group *g = &m->groups[group];
	bool waits = false;

	for (size_t f = 0; f < m->flow_count; f++)
		waits |= m->flows[f].is.group == group && m->flows[f].count > 0;
	for (size_t i = 0; i < g->count; i++) {
		const struct model_line *l = &m->channels[g->list[i]].line;

		waits &= model_ahead(l, m->now) > ns * l->rate;
	}
	return waits;
}

/*
 * Groups rest when all of their channels have more work than the lead, until one has come down. One
 * that shares channels does so when no other of its cluster goes on: else that one would keep the
 * channel from coming down, whatever waits here.
 */
static void rest(struct model *m) {
	for (uint32_t g = 0; g < m->group_count; g++) {
		bool all = true;

		for (uint32_t k = 0; k < m->group_count; k++) {
			if (model_same_cluster(m, g, k))
				all &= waits_for_channel(m, k, LEAD);
		}
		if (all)
			m->groups[g].rests = true;
	}
	for (uint32_t g = 0; g < m->group_count; g++) {
		for (uint32_t k = 0; k < m->group_count; k++) {
			if (model_same_cluster(m, g, k) && m->groups[k].rests &&
			    !waits_for_channel(m, k, SCHEDULER_REST_NS))
				m->groups[g].rests = false;
		}
	}
}

/* In which column a flow's first packet can go now; -1: in none. */
static int column_of(const struct model *m, const struct model_flow *f) {
	const struct model_packet *p = &f->list[0];

	if (f->is.group == SCHEDULER_NONE || f->count == 0)
		return -1;
	if (!holds(m, &f->sustained, p->bytes) || !holds(m, &f->peak, p->bytes) ||
	    first_channel(m, &m->groups[f->is.group]) < 0)
		return -1;
	if (f->is.reserved > 0 && model_level(&f->reserved, m->now) >= 0)
		return MODEL_RESERVED;
	return holds(m, &m->modems[f->is.modem], p->bytes) ? f->is.priority : -1;
}

/* The columns of all flows at this moment. */
struct view {
	int column[MODEL_FLOWS];
};

static bool in_class(const struct model *m, const struct view *v, size_t flow, uint32_t group,
		     unsigned priority, uint32_t modem) {
	const struct scheduler_flow *f = &m->flows[flow].is;

	return v->column[flow] == (int)priority && f->group == group && f->modem == modem;
}

static bool class_waits(const struct model *m, const struct view *v, uint32_t group,
			unsigned priority, uint32_t modem) {
	for (size_t f = 0; f < m->flow_count; f++) {
		if (in_class(m, v, f, group, priority, modem))
			return true;
	}
	return false;
}

/* Who leaves a turn unused saves nothing of it up. */
static void forfeit(int64_t *credit) {
	if (*credit > 0)
		*credit = 0;
}

/* The flow of a class that goes next. */
static int class_flow(struct model *m, const struct view *v, uint32_t group, unsigned priority,
		      uint32_t modem) {
	struct model_class *c = &m->classes[group][priority][modem];

	if (c->flow >= 0 && !in_class(m, v, (size_t)c->flow, group, priority, modem)) {
		forfeit(&m->flows[c->flow].credit);
		c->flow = -1;
	}
	while (c->flow < 0 || m->flows[c->flow].credit <= 0) {
		int best = -1;

		for (size_t f = 0; f < m->flow_count; f++) {
			if (in_class(m, v, f, group, priority, modem) &&
			    (best < 0 || m->flows[f].served < m->flows[best].served))
				best = (int)f;
		}
		m->flows[best].served = ++m->stamp;
		m->flows[best].credit += MODEL_TURN * m->flows[best].is.weight;
		c->flow = best;
	}
	return c->flow;
}

/* The class that has waited longest of those that did not have their turn in this round. */
static int next_class(struct model *m, const struct view *v, uint32_t group, unsigned priority) {
	struct model_column *column = &m->groups[group].columns[priority];
	int best = -1;

	for (uint32_t k = 0; k < m->modem_count; k++) {
		const struct model_class *c = &m->classes[group][priority][k];

		if (class_waits(m, v, group, priority, k) && c->round < column->round &&
		    (best < 0 || c->served < m->classes[group][priority][best].served))
			best = (int)k;
	}
	return best;
}

/* The flow of a group's priority that goes next; somebody waits there. */
static int priority_flow(struct model *m, const struct view *v, uint32_t group, unsigned priority) {
	struct model_column *column = &m->groups[group].columns[priority];
	struct model_class *classes = m->classes[group][priority];

	if (column->modem >= 0 && !class_waits(m, v, group, priority, (uint32_t)column->modem)) {
		forfeit(&classes[column->modem].credit);
		column->modem = -1;
	}
	while (column->modem < 0 || classes[column->modem].credit <= 0) {
		int k = next_class(m, v, group, priority);

		if (k < 0) {
			column->round++;
			continue;
		}
		classes[k].round = column->round;
		classes[k].served = ++m->stamp;
		classes[k].credit += MODEL_TURN;
		column->modem = k;
	}
	return class_flow(m, v, group, priority, (uint32_t)column->modem);
}

/* Of the reserved column each flow has one packet a turn. */
static int reserved_flow(struct model *m, const struct view *v, uint32_t group) {
	struct model_column *column = &m->groups[group].columns[MODEL_RESERVED];
	int best = -1;

	for (size_t f = 0; f < m->flow_count; f++) {
		if (v->column[f] == MODEL_RESERVED && m->flows[f].is.group == group &&
		    (best < 0 || m->flows[f].served < m->flows[best].served))
			best = (int)f;
	}
	m->flows[best].served = ++m->stamp;
	column->round++;
	return best;
}

static bool group_waits(const struct model *m, const struct view *v, uint32_t group, int column) {
	for (size_t f = 0; f < m->flow_count; f++) {
		if (v->column[f] == column && m->flows[f].is.group == group)
			return true;
	}
	return false;
}

/* Of a cluster, the group that is behind in turns of a column; -1 where none has it. */
static int group_behind(struct model *m, const struct view *v, uint32_t cluster, int column) {
	int best = -1;
	uint64_t first = 0;

	for (uint32_t g = 0; g < m->group_count; g++) {
		if (group_waits(m, v, g, column) && model_same_cluster(m, g, cluster) &&
		    m->groups[g].columns[column].round > first)
			first = m->groups[g].columns[column].round;
	}
	for (uint32_t g = 0; g < m->group_count; g++) {
		struct model_column *own = &m->groups[g].columns[column];

		if (!group_waits(m, v, g, column) || !model_same_cluster(m, g, cluster))
			continue;
		if (own->round + MODEL_LAG < first)
			own->round = first - MODEL_LAG;
		if (best < 0 || own->round < m->groups[best].columns[column].round)
			best = (int)g;
	}
	return best;
}

/* Columns of a cluster that have something to send. */
static unsigned cluster_columns(const struct model *m, const struct view *v, uint32_t cluster) {
	unsigned columns = 0;

	for (size_t f = 0; f < m->flow_count; f++) {
		if (v->column[f] >= 0 && model_same_cluster(m, m->flows[f].is.group, cluster))
			columns |= 1u << v->column[f];
	}
	return columns;
}

static int highest(unsigned columns) {
	int best = -1;

	for (int k = 0; k < MODEL_COLUMNS; k++) {
		if (columns & 1u << k)
			best = k;
	}
	return best;
}

/* The column of a cluster that goes next. `first` is its lowest group, which keeps the guard. */
static int cluster_column(struct model_group *first, unsigned columns) {
	int top = highest(columns);
	unsigned lower = columns & ~(1u << top);

	if (lower == 0 || first->above < MODEL_GUARD)
		return top;
	first->above = 0;
	for (unsigned k = 1;; k++) {
		unsigned column = (first->guard + MODEL_COLUMNS - k) % MODEL_COLUMNS;

		if (lower & 1u << column) {
			first->guard = column;
			return (int)column;
		}
	}
}

static bool lowest_of_cluster(const struct model *m, uint32_t group) {
	for (uint32_t g = 0; g < group; g++) {
		if (model_same_cluster(m, g, group))
			return false;
	}
	return true;
}

static void cluster_send(struct model *m, const struct view *v, uint32_t cluster, unsigned columns,
			 struct scheduler_grant *out) {
	struct model_group *first = &m->groups[cluster];
	int column = cluster_column(first, columns);
	uint32_t group = (uint32_t)group_behind(m, v, cluster, column);
	int flow = column == MODEL_RESERVED ? reserved_flow(m, v, group)
					    : priority_flow(m, v, group, (unsigned)column);
	struct model_flow *f = &m->flows[flow];
	uint32_t bytes = f->list[0].bytes;

	model_take(m, (uint32_t)flow, (uint32_t)first_channel(m, &m->groups[group]), out);
	if (columns & ((1u << column) - 1))
		first->above += bytes;
	if (column == MODEL_RESERVED)
		return;
	f->credit -= bytes;
	m->classes[group][column][f->is.modem].credit -= bytes;
}

/* The service group's limit rests as a group does. */
static bool limit_closed(struct model *m) {
	model_work ahead = model_ahead(&m->limit, m->now);

	if (ahead > LEAD * m->limit.rate)
		m->limit_rests = true;
	else if (ahead <= (model_work)SCHEDULER_REST_NS * m->limit.rate)
		m->limit_rests = false;
	return m->limit.rate > 0 && m->limit_rests;
}

bool model_pick(struct model *m, struct scheduler_grant *out) {
	struct view v;

	if (limit_closed(m))
		return false;
	rest(m);
	for (size_t f = 0; f < m->flow_count; f++)
		v.column[f] = column_of(m, &m->flows[f]);
	for (size_t i = 1; i <= m->group_count; i++) {
		uint32_t g = (uint32_t)((m->cluster + i) % m->group_count);
		unsigned columns = lowest_of_cluster(m, g) ? cluster_columns(m, &v, g) : 0;

		if (columns == 0)
			continue;
		m->cluster = g;
		cluster_send(m, &v, g, columns, out);
		return true;
	}
	return false;
}
