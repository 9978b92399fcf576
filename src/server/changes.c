/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "downstream/change/change.h"
#include "server/change_sessions.h"
#include "server/running.h"
#include "server/steering.h"
#include "sharing/change.h"
#include "upstream/change/change.h"

/* The ports that a group may share, and who runs the lists of the port. */
struct share_part {
	struct share_change *change;
	struct worker *owner;
};

/* Of one group. */
struct group_change {
	struct served_group *group;
	struct live_changes changes;
	struct change_sessions sessions;
	struct ds_change *downstream;
	struct us_change *upstream;
	struct share_part shares[2]; /* network, R-PHY */
	uint64_t drain_end; /* ns; 0: nobody waits yet */
};

/* What a worker does. */
struct act {
	struct worker *worker;
	struct worker_task task;
};

#define GROUP_ACTS 11

struct server_change {
	struct server *server;
	struct group_change groups[SERVER_MAX_GROUPS];
	unsigned count;
	struct act acts[SERVER_MAX_GROUPS * GROUP_ACTS]; /* in their order */
	unsigned act_count, done;
};

struct server_change *server_change_open(struct server *s) {
	struct server_change *c = calloc(1, sizeof(*c));

	if (c != NULL)
		c->server = s;
	return c;
}

/* The groups of a port in service, by their places. */
static void groups_on(const struct server *s, unsigned port,
		      const struct service_group *groups[SERVER_MAX_GROUPS]) {
	enum device_role role = s->ports.list[port].role;

	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].there && s->ports.of[g][role] == port)
			groups[g] = s->groups[g].sg;
	}
}

static bool share_begin(struct server_change *c, struct group_change *g, unsigned place,
			enum device_role role, struct share_part *part, char why[LIVE_LINE]) {
	const struct service_group *groups[SERVER_MAX_GROUPS] = {NULL};
	struct server *s = c->server;
	unsigned port = s->ports.of[place][role];
	struct port_share *share = port == SERVER_NO_PORT ? NULL : s->shares.of[port];

	if (share == NULL)
		return true;
	groups_on(s, port, groups);
	part->owner = &s->workers[s->shares.owners[port]];
	return share_change_begin(share, groups, s->group_count, place, &g->changes, &part->change,
				  why) == 0;
}

static bool group_begin(struct server_change *c, struct group_change *g, unsigned place,
			char why[LIVE_LINE]) {
	struct served_group *group = g->group;
	const struct service_group *sg = &group->live.sg;

	if (!change_sessions_make(&g->sessions, group, &g->changes, why))
		return false;
	g->downstream = ds_change_begin(group->downstream, sg, &g->changes, g->sessions.down, why);
	if (g->downstream == NULL)
		return false;
	if (group->upstream != NULL) {
		g->upstream =
			us_change_begin(group->upstream, sg, &g->changes, g->sessions.up, why);
		if (g->upstream == NULL)
			return false;
	}
	return share_begin(c, g, place, DEVICE_NETWORK, &g->shares[0], why) &&
	       share_begin(c, g, place, DEVICE_RPHY, &g->shares[1], why);
}

bool server_change_add(struct server_change *c, unsigned group, struct live_changes *changes,
		       char why[LIVE_LINE]) {
	struct group_change *g = &c->groups[c->count++];

	g->group = &c->server->groups[group];
	g->changes = *changes;
	*changes = (struct live_changes){0};
	return group_begin(c, g, group, why);
}

static void act_add(struct server_change *c, struct worker *w, bool (*step)(void *arg), void *arg) {
	if (arg != NULL)
		c->acts[c->act_count++] = (struct act){w, {step, arg}};
}

/* The queues of what goes run empty meanwhile, or the time is over. */
static bool wait_for_queues(void *arg) {
	struct group_change *g = arg;
	uint64_t now = g->group->upper->clock.now;

	if (g->drain_end == 0)
		g->drain_end = now + CHANGE_DRAIN_MS * UINT64_C(1000000);
	return ds_change_drained(g->downstream) || now >= g->drain_end;
}

static void group_take(struct server_change *c, struct group_change *g) {
	const struct served_group *group = g->group;

	for (unsigned p = 0; p < RTE_DIM(g->shares); p++)
		act_add(c, g->shares[p].owner, share_change_go, g->shares[p].change);
	act_add(c, group->upstream_worker, us_change_take, g->upstream);
	act_add(c, group->upper, ds_change_upper, g->downstream);
	act_add(c, group->lower, ds_change_lower, g->downstream);
	for (unsigned p = 0; p < RTE_DIM(g->shares); p++)
		act_add(c, g->shares[p].owner, share_change_come, g->shares[p].change);
}

static void group_leave(struct server_change *c, struct group_change *g) {
	const struct served_group *group = g->group;

	act_add(c, group->upper, wait_for_queues, g);
	act_add(c, group->upper, ds_change_close, g->downstream);
	act_add(c, group->lower, ds_change_passed, g->downstream);
	act_add(c, group->upstream_worker, us_change_passed, g->upstream);
}

/* What goes is closed from the port on, what comes is opened towards it. A key that is new is known
 * upstream before the downstream uses it. All groups have their new state before one is waited for. */
static void acts_list(struct server_change *c) {
	for (unsigned g = 0; g < c->count; g++)
		group_take(c, &c->groups[g]);
	for (unsigned g = 0; g < c->count; g++)
		group_leave(c, &c->groups[g]);
}

/* Sessions that came or went, behind all that knows of them. */
static void steer_anew(struct server_change *c) {
	struct server *s = c->server;

	for (unsigned i = 0; i < c->count; i++) {
		unsigned place = (unsigned)(c->groups[i].group - s->groups);

		if (c->groups[i].shares[1].change != NULL)
			server_steer(s, s->ports.of[place][DEVICE_RPHY]);
	}
}

static void all_take(struct server_change *c) {
	pthread_rwlock_wrlock(&c->server->lock);
	c->server->generation++;
	for (unsigned i = 0; i < c->count; i++) {
		struct group_change *g = &c->groups[i];

		change_sessions_take(&g->sessions, g->group, &g->changes);
		live_changes_take(&g->group->live, &g->changes);
	}
	pthread_rwlock_unlock(&c->server->lock);
	steer_anew(c);
}

void server_change_make(struct server_change *c) {
	acts_list(c);
	for (; c->done < c->act_count; c->done++)
		worker_do(c->acts[c->done].worker, &c->acts[c->done].task);
	all_take(c);
	server_synchronize(c->server);
}

bool server_change_round(struct server_change *c) {
	if (c->act_count == 0)
		acts_list(c);
	while (c->done < c->act_count) {
		const struct worker_task *task = &c->acts[c->done].task;

		if (!task->step(task->arg))
			return false;
		c->done++;
	}
	all_take(c);
	return true;
}

void server_change_close(struct server_change *c) {
	if (c == NULL)
		return;
	for (unsigned i = 0; i < c->count; i++) {
		struct group_change *g = &c->groups[i];

		for (unsigned p = 0; p < RTE_DIM(g->shares); p++)
			share_change_end(g->shares[p].change);
		if (g->upstream != NULL)
			us_change_end(g->upstream);
		if (g->downstream != NULL)
			ds_change_end(g->downstream);
		change_sessions_free(&g->sessions, g->group);
		live_changes_free(&g->changes);
	}
	free(c);
}
