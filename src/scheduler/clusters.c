/* SPDX-License-Identifier: BSD-3-Clause */
#include "scheduler/clusters.h"

#include <stdlib.h>
#include <string.h>

#include "scheduler/class_queues.h"
#include "scheduler/leads.h"

#define MOVE_STEPS 4 /* a move costs as much as this many groups that are looked at */

enum regroup_phase {
	REGROUP_IDLE,
	REGROUP_JOIN, /* join the sets of channels that groups share */
	REGROUP_MOVE, /* move groups to the clusters of their channels */
};

/* A set of channels, or one that was joined to another. */
struct reach {
	uint64_t channels[CHANNEL_WORDS];
	uint32_t up; /* the set that it was joined to, or itself */
	uint32_t members; /* groups */
};

struct regroup {
	bool requested, check;
	enum regroup_phase phase;
	uint32_t next; /* group */
	uint32_t half; /* first index of the clusters that groups move to */
	struct reach reach[SCHEDULER_MAX_CHANNELS]; /* by channel */
};

static size_t blocks_of_half(const struct scheduler *s) {
	return s->group_count / KEY_BLOCK + s->channel_count;
}

bool clusters_create(struct scheduler *s) {
	s->clusters = calloc((size_t)2 * s->channel_count, sizeof(*s->clusters));
	s->present = calloc((size_t)2 * s->group_count, sizeof(*s->present));
	s->keys = calloc((size_t)2 * s->group_count, sizeof(*s->keys));
	s->min = calloc(2 * blocks_of_half(s), sizeof(*s->min));
	s->regroup = calloc(1, sizeof(*s->regroup));
	s->working = NONE;
	return s->clusters != NULL && s->present != NULL && s->keys != NULL && s->min != NULL &&
	       s->regroup != NULL;
}

void clusters_free(struct scheduler *s) {
	free(s->clusters);
	free(s->present);
	free(s->keys);
	free(s->min);
	free(s->regroup);
}

void clusters_set_channels(struct scheduler *s, uint32_t group, const struct scheduler_group *set) {
	struct group *g = &s->groups[group];
	uint64_t had[CHANNEL_WORDS];

	g->channel_count = (uint32_t)set->channel_count;
	g->run_count = 0;
	memcpy(had, g->channels, sizeof(had));
	memset(g->channels, 0, sizeof(g->channels));
	for (size_t i = 0; i < set->channel_count; i++)
		g->channels[set->channels[i] / 64] |= UINT64_C(1) << set->channels[i] % 64;
	for (uint16_t c = 0, before = 0; c < SCHEDULER_MAX_CHANNELS; c++) {
		uint16_t member = g->channels[c / 64] >> c % 64 & 1;

		if (member != (had[c / 64] >> c % 64 & 1))
			s->channels[c].groups += member ? 1u : -1u;
		if (member && !before)
			g->runs[g->run_count++] = (struct run){c, 0};
		if (member)
			g->runs[g->run_count - 1].count++;
		before = member;
	}
}

void clusters_change(struct scheduler *s) {
	s->regroup->requested = s->changing = true;
	clusters_recheck(s);
}

void clusters_recheck(struct scheduler *s) {
	s->regroup->check = s->changing = true;
}

static void clusters_wake(struct scheduler *s) {
	for (uint32_t i = 0; i < 2 * s->channel_count; i++) {
		if (s->clusters[i].present_count > 0)
			cluster_wake(s, i, s->now);
	}
}

/* The root of the channel's set. */
static uint32_t reach_of(struct regroup *r, uint32_t channel) {
	while (r->reach[channel].up != channel) {
		uint32_t up = r->reach[channel].up;

		channel = r->reach[channel].up = r->reach[up].up;
	}
	return channel;
}

static uint32_t reach_unite(struct regroup *r, uint32_t a, uint32_t b) {
	struct reach *into, *from;

	if (r->reach[a].members < r->reach[b].members) {
		uint32_t less_members = a;

		a = b;
		b = less_members;
	}
	into = &r->reach[a];
	from = &r->reach[b];
	for (unsigned w = 0; w < CHANNEL_WORDS; w++)
		into->channels[w] |= from->channels[w];
	into->members += from->members;
	from->members = 0;
	from->up = a;
	return a;
}

/* Joins the channels of a group to one set. All groups together cause fewer unions than there
 * are channels. */
static void group_join(struct regroup *r, struct group *g) {
	/* A group without channels joins the set of channel 0: it never has a packet. */
	uint32_t first = g->run_count > 0 ? g->runs[0].from : 0, root = reach_of(r, first);

	g->first_channel = first;
	for (unsigned w = 0; w < CHANNEL_WORDS; w++) {
		uint64_t others;

		while ((others = g->channels[w] & ~r->reach[root].channels[w]) != 0) {
			uint32_t other = w * 64 + (uint32_t)__builtin_ctzll(others);

			root = reach_unite(r, root, reach_of(r, other));
		}
	}
	r->reach[root].members++;
}

static void join_begin(struct scheduler *s, struct regroup *r) {
	memset(r->reach, 0, sizeof(r->reach));
	for (uint32_t c = 0; c < s->channel_count; c++) {
		r->reach[c].up = s->limit.cost != 0 ? 0 : c;
		r->reach[c].channels[c / 64] |= UINT64_C(1) << c % 64;
	}
	if (s->limit.cost != 0)
		memset(r->reach[0].channels, 0xff, sizeof(r->reach[0].channels));
	r->requested = false;
	r->phase = REGROUP_JOIN;
	r->next = 0;
}

/* Assigns memory to the clusters of the unused half. */
static void move_begin(struct scheduler *s, struct regroup *r) {
	const bool upper = r->half == 0;
	uint32_t *present = s->present + (upper ? s->group_count : 0);
	int64_t *keys = s->keys + (upper ? s->group_count : 0);
	int64_t *min = s->min + (upper ? blocks_of_half(s) : 0);

	r->half = upper ? s->channel_count : 0;
	for (uint32_t i = 0; i < s->channel_count; i++) {
		const uint32_t members = r->reach[i].members;

		if (members == 0)
			continue;
		s->clusters[r->half + i] =
			(struct cluster){.present = present, .keys = keys, .min = min};
		present += members;
		keys += members;
		min += members / KEY_BLOCK;
	}
	leads_cancel(s);
	r->phase = REGROUP_MOVE;
	r->next = 0;
}

static void waiting_count(struct cluster *c, const struct group *g, uint32_t by) {
	for (unsigned k = 0; k < CLASS_QUEUES; k++)
		c->waiting[k] += (g->waiting >> k & 1) != 0 ? by : 0;
}

/* Moves a group to its new cluster. All groups of a cluster start in the same round. */
static void group_move(struct scheduler *s, uint32_t group) {
	struct group *g = &s->groups[group];

	if (g->waiting != 0) {
		waiting_count(&s->clusters[g->cluster], g, UINT32_MAX);
		group_leave(s, group);
	}
	for (unsigned k = 0; k < CLASS_QUEUES; k++)
		g->queues[k].round = 0;
	g->cluster = s->regroup->half + reach_of(s->regroup, g->first_channel);
	if (g->waiting != 0) {
		waiting_count(&s->clusters[g->cluster], g, 1);
		group_enter(s, group);
	}
}

/* Handles one group. s->steps must be above 0. */
static void regroup_step(struct scheduler *s, struct regroup *r) {
	if (r->next == s->group_count) {
		if (r->phase == REGROUP_JOIN)
			move_begin(s, r);
		else
			r->phase = REGROUP_IDLE;
		s->steps--;
	} else if (r->phase == REGROUP_JOIN) {
		group_join(r, &s->groups[r->next++]);
		s->steps--;
	} else {
		group_move(s, r->next++);
		s->steps -= s->steps < MOVE_STEPS ? s->steps : MOVE_STEPS;
	}
}

void clusters_continue(struct scheduler *s) {
	struct regroup *r = s->regroup;

	s->steps = CHANGE_STEPS;
	if (r->check)
		clusters_wake(s);
	r->check = false;
	/* The sets must not change before all groups have moved. */
	if (r->requested && r->phase != REGROUP_MOVE)
		join_begin(s, r);
	while (s->steps > 0 && r->phase != REGROUP_IDLE)
		regroup_step(s, r);
	s->changing = r->requested || r->phase != REGROUP_IDLE;
}
