/* SPDX-License-Identifier: BSD-3-Clause */
/* How the model decides itself: who may go, whose turn it is, and over which channel. */
#include "scheduler_model.h"

static bool holds(const struct model *m, const struct model_bucket *b, uint32_t bytes) {
	model_work needed = MODEL_BYTE * bytes;

	/* what became longer than a burst by a change goes as if the bucket were larger */
	if (needed > b->cap)
		return b->rate == 0 ||
		       b->level + (model_work)b->rate * (m->now - b->since) >= needed;
	return b->rate == 0 || model_level(b, m->now) >= needed;
}

/* The channel that will have sent its work first, within `ns` from now; -1 where none will. */
static int first_channel(const struct model *m, const struct model_group *g, uint64_t ns) {
	int best = -1;

	for (size_t i = 0; i < g->count; i++) {
		int c = (int)g->list[i];
		const struct model_line *l = &m->channels[c].line;
		model_work ahead = model_ahead(l, m->now), other;

		if (ahead > (model_work)ns * l->rate)
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

/* In which column a flow's first packet can go now, if a channel takes it; -1: in none. */
static int column_of(const struct model *m, const struct model_flow *f) {
	const struct model_packet *p = &f->list[0];

	if (f->is.group == SCHEDULER_NONE || f->count == 0)
		return -1;
	if (!holds(m, &f->sustained, p->bytes) || !holds(m, &f->peak, p->bytes))
		return -1;
	if (f->is.reserved > 0 && model_level(&f->reserved, m->now) >= 0)
		return MODEL_RESERVED;
	return m->classes[f->is.group][f->is.priority][f->is.modem].blocked ? -1 : f->is.priority;
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

/* Whether a group has more rounds than `rounds` and is one of those that wait for a column. */
static bool ahead_of(const struct model *m, const struct view *v, uint32_t cluster, uint32_t group,
		     int column, uint64_t rounds) {
	return group_waits(m, v, group, column) && model_same_cluster(m, group, cluster) &&
	       m->groups[group].columns[column].round > rounds;
}

/* Where nobody is within eight rounds above a group, those above come down to that. */
static void cut_leads(struct model *m, const struct view *v, uint32_t cluster, int column) {
	for (uint32_t g = 0; g < m->group_count; g++) {
		uint64_t own = m->groups[g].columns[column].round, next = UINT64_MAX;

		if (!group_waits(m, v, g, column) || !model_same_cluster(m, g, cluster))
			continue;
		for (uint32_t k = 0; k < m->group_count; k++) {
			uint64_t round = m->groups[k].columns[column].round;

			if (ahead_of(m, v, cluster, k, column, own) && round < next)
				next = round;
		}
		if (next == UINT64_MAX || next - own <= MODEL_LAG)
			continue;
		for (uint32_t k = 0; k < m->group_count; k++) {
			if (ahead_of(m, v, cluster, k, column, own))
				model_go_back(m, k, column, next - own - MODEL_LAG);
		}
	}
}

/* A group that comes back is not before the last of those that were here. */
static void come_back(struct model *m, const struct view *v, uint32_t cluster, int column) {
	uint64_t last = UINT64_MAX;

	for (uint32_t g = 0; g < m->group_count; g++) {
		if (m->groups[g].present[column] && group_waits(m, v, g, column) &&
		    model_same_cluster(m, g, cluster) && m->groups[g].columns[column].round < last)
			last = m->groups[g].columns[column].round;
	}
	for (uint32_t g = 0; g < m->group_count; g++) {
		struct model_group *own = &m->groups[g];

		if (!model_same_cluster(m, g, cluster))
			continue;
		if (!own->present[column] && last != UINT64_MAX &&
		    own->columns[column].round < last)
			own->columns[column].round = last;
		own->present[column] = group_waits(m, v, g, column);
	}
}

/* Of a cluster, the group that is behind in rounds of a column; one must have it. */
static int group_behind(struct model *m, const struct view *v, const struct view *all,
			uint32_t cluster, int column) {
	int best = -1;

	come_back(m, all, cluster, column);
	cut_leads(m, all, cluster, column);
	for (uint32_t g = 0; g < m->group_count; g++) {
		if (group_waits(m, v, g, column) && model_same_cluster(m, g, cluster) &&
		    (best < 0 ||
		     m->groups[g].columns[column].round < m->groups[best].columns[column].round))
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

/* The place, group and column, of something below `top` that goes next, in rotation; -1: nothing waits
 * there. `first` is the cluster's lowest group, which keeps the account. */
static int lower_place(const struct model *m, const struct view *v, uint32_t first, int top) {
	unsigned places = (unsigned)m->group_count * MODEL_COLUMNS;

	for (unsigned k = 1; k <= places; k++) {
		unsigned place = (m->groups[first].guard + k) % places;
		uint32_t group = place / MODEL_COLUMNS;
		int column = (int)(place % MODEL_COLUMNS);

		if (column < top && model_same_cluster(m, group, first) &&
		    group_waits(m, v, group, column))
			return (int)place;
	}
	return -1;
}

/* Who waits for its modem's rate keeps its turn in mind: those that had nothing come before it. */
static void block(struct model *m, const struct model_flow *f, struct model_class *c) {
	const uint32_t modem = f->is.modem;
	bool others = m->waits_for[modem].bytes > 0;

	if (!others || (m->waits_for[modem].again && !c->had)) {
		m->waits_for[modem].bytes = f->list[0].bytes;
		m->waits_for[modem].again = c->had;
	}
	c->blocked = true;
	c->had = false;
}

struct turn {
	uint32_t group;
	int column;
};

/* The highest column, or something lower when that is due. */
static struct turn next_turn(struct model *m, const struct view *v, const struct view *all,
			     uint32_t cluster, int top) {
	struct model_group *first = &m->groups[cluster];
	int place = first->above < MODEL_GUARD ? -1 : lower_place(m, v, cluster, top);

	if (place < 0)
		return (struct turn){(uint32_t)group_behind(m, v, all, cluster, top), top};
	first->guard = (unsigned)place;
	return (struct turn){(uint32_t)place / MODEL_COLUMNS, place % MODEL_COLUMNS};
}

static bool modem_waits(const struct model *m, const struct model_flow *f) {
	return m->waits_for[f->is.modem].bytes > 0 ||
	       !holds(m, &m->modems[f->is.modem], f->list[0].bytes);
}

/* False where the one whose turn it is waits for its modem's rate, as its modem does from now on. */
static bool cluster_send(struct model *m, const struct view *v, const struct view *all,
			 uint32_t cluster, struct scheduler_grant *out) {
	struct model_group *first = &m->groups[cluster];
	uint32_t bytes;
	unsigned columns = cluster_columns(m, v, cluster);
	struct turn turn = next_turn(m, v, all, cluster, highest(columns));
	struct model_class *class = NULL;
	int flow;

	if (turn.column == MODEL_RESERVED) {
		flow = reserved_flow(m, v, turn.group);
	} else {
		flow = priority_flow(m, v, turn.group, (unsigned)turn.column);
		class = &m->classes[turn.group][turn.column][m->flows[flow].is.modem];
	}
	if (class != NULL && modem_waits(m, &m->flows[flow])) {
		block(m, &m->flows[flow], class);
		return false;
	}
	bytes = m->flows[flow].list[0].bytes;
	model_take(m, (uint32_t)flow,
		   (uint32_t)first_channel(m, &m->groups[turn.group], SCHEDULER_LEAD_NS), out);
	if (turn.column < highest(columns))
		first->above -= first->above < bytes * MODEL_GUARD_COST ? first->above
									: bytes * MODEL_GUARD_COST;
	else if (columns != 1u << turn.column && first->above < MODEL_GUARD)
		first->above += bytes;
	if (class == NULL)
		return true;
	m->flows[flow].credit -= bytes;
	class->credit -= bytes;
	return true;
}

/* What of a cluster can go over a channel that will have sent its work in so many ns. */
static unsigned within(const struct model *m, const struct view *all, uint32_t cluster, uint64_t ns,
		       struct view *v) {
	for (size_t f = 0; f < m->flow_count; f++) {
		const struct scheduler_flow *is = &m->flows[f].is;

		v->column[f] = -1;
		if (all->column[f] >= 0 && model_same_cluster(m, is->group, cluster) &&
		    first_channel(m, &m->groups[is->group], ns) >= 0)
			v->column[f] = all->column[f];
	}
	if (m->limit.rate > 0 && model_ahead(&m->limit, m->now) > (model_work)ns * m->limit.rate)
		return 0;
	return cluster_columns(m, v, cluster);
}

/*
 * A cluster's passes: one goes up to its horizon, and when nothing is left below that, the next
 * begins as soon as something can go that is not above the rest.
 */
static bool cluster_passes(struct model *m, const struct view *all, uint32_t cluster,
			   struct view *v) {
	struct model_group *first = &m->groups[cluster];

	if (first->passes && (int64_t)(first->horizon - m->now) >= 0 &&
	    within(m, all, cluster, first->horizon - m->now, v) != 0)
		return true;
	first->passes = within(m, all, cluster, SCHEDULER_REST_NS, v) != 0;
	if (!first->passes)
		return false;
	first->horizon = m->now + SCHEDULER_LEAD_NS;
	return within(m, all, cluster, SCHEDULER_LEAD_NS, v) != 0;
}

/* Modems whose wait is over. */
static void modems_open(struct model *m) {
	for (size_t i = 0; i < m->modem_count; i++) {
		if (!holds(m, &m->modems[i], m->waits_for[i].bytes))
			continue;
		m->waits_for[i].bytes = 0;
		for (size_t g = 0; g < MODEL_GROUPS; g++) {
			for (size_t p = 0; p < SCHEDULER_PRIORITIES; p++)
				m->classes[g][p][i].blocked = false;
		}
	}
}

bool model_pick(struct model *m, struct scheduler_grant *out) {
	struct view all, v;

	modems_open(m);
	for (size_t f = 0; f < m->flow_count; f++)
		all.column[f] = column_of(m, &m->flows[f]);
	for (size_t i = 1; i <= m->group_count; i++) {
		uint32_t g = (uint32_t)((m->cluster + i) % m->group_count);

		if (!model_lowest_of_cluster(m, g) || !cluster_passes(m, &all, g, &v))
			continue;
		m->cluster = g;
		return cluster_send(m, &v, &all, g, out) || model_pick(m, out);
	}
	return false;
}
