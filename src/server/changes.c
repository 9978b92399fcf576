/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/changes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rte_cycles.h>

#include "downstream/change/change.h"
#include "server/change_sessions.h"
#include "sharing/change.h"
#include "upstream/change/change.h"

#define DRAIN_POLL_US 100

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
};

struct server_change {
	struct server *server;
	struct group_change groups[SERVER_MAX_GROUPS];
	unsigned count;
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
		bool has = s->ports.of[g][role] == port;

		groups[g] = has ? &s->groups[g].live.sg : NULL;
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
	part->owner = server_share_owner(s, port);
	return share_change_begin(share, groups, s->group_count, place, &g->changes, &part->change,
				  why) == 0;
}

static bool group_begin(struct server_change *c, struct group_change *g, unsigned place,
			char why[LIVE_LINE]) {
	struct served_group *group = g->group;
	const struct service_group *sg = &group->live.sg;

	if (!change_sessions_make(&g->sessions, group, &g->changes, why))
		return false;
	g->downstream =
		ds_change_begin(group->downstream, sg, &g->changes, g->sessions.down, why);
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

static void step(struct server *s, struct worker *w, bool (*does)(void *change), void *change) {
	struct worker_task task = {does, change};

	if (change != NULL)
		server_do(s, w, &task);
}

/* What goes is closed from the port on, what comes is opened towards it. A key that is new is known
 * upstream before the downstream uses it. */
static void group_take(struct server *s, struct group_change *g) {
	struct served_group *group = g->group;

	for (unsigned p = 0; p < RTE_DIM(g->shares); p++)
		step(s, g->shares[p].owner, share_change_go, g->shares[p].change);
	step(s, group->upstream_worker, us_change_take, g->upstream);
	step(s, group->upper, ds_change_upper, g->downstream);
	step(s, group->lower, ds_change_lower, g->downstream);
	for (unsigned p = 0; p < RTE_DIM(g->shares); p++)
		step(s, g->shares[p].owner, share_change_come, g->shares[p].change);
}

static bool all_drained(const struct server_change *c) {
	for (unsigned g = 0; g < c->count; g++) {
		if (!ds_change_drained(c->groups[g].downstream))
			return false;
	}
	return true;
}

static void wait_for_queues(const struct server_change *c) {
	uint64_t end = rte_rdtsc() + rte_get_tsc_hz() / 1000 * CHANGE_DRAIN_MS;

	while (server_runs(c->server) && !all_drained(c) && rte_rdtsc() < end)
		usleep(DRAIN_POLL_US);
}

static void group_leave(struct server *s, struct group_change *g) {
	struct served_group *group = g->group;

	step(s, group->upper, ds_change_close, g->downstream);
	step(s, group->lower, ds_change_passed, g->downstream);
	step(s, group->upstream_worker, us_change_passed, g->upstream);
}

void server_change_make(struct server_change *c) {
	struct server *s = c->server;

	for (unsigned g = 0; g < c->count; g++)
		group_take(s, &c->groups[g]);
	wait_for_queues(c);
	for (unsigned g = 0; g < c->count; g++)
		group_leave(s, &c->groups[g]);
	server_synchronize(s);
	for (unsigned g = 0; g < c->count; g++) {
		struct group_change *change = &c->groups[g];

		change_sessions_take(&change->sessions, change->group, &change->changes);
		served_group_take(change->group, &change->changes);
	}
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
