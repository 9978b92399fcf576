/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/changes.h"

#include <stdio.h>
#include <stdlib.h>

#include "downstream/change/change.h"
#include "server/change_parts.h"
#include "sharing/change.h"
#include "upstream/change/change.h"

struct server_change *server_change_open(struct server *s, const char *method) {
	struct server_change *c = calloc(1, sizeof(*c));

	if (c != NULL) {
		c->server = s;
		c->method = method;
	}
	return c;
}

/* The groups in service that use a port, by slot. */
static void groups_on(const struct server *s, unsigned port,
		      const struct service_group *groups[SERVER_MAX_GROUPS]) {
	enum device_role role = s->ports.list[port].role;

	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].in_service && s->ports.of[g][role] == port)
			groups[g] = s->groups[g].sg;
	}
}

static bool share_begin(struct server_change *c, struct group_change *g, unsigned slot,
			enum device_role role, struct share_part *part, char why[LIVE_LINE]) {
	const struct service_group *groups[SERVER_MAX_GROUPS] = {NULL};
	struct server *s = c->server;
	unsigned port = s->ports.of[slot][role];
	struct port_share *share = port == SERVER_NO_PORT ? NULL : s->shares.of[port];

	if (share == NULL)
		return true;
	groups_on(s, port, groups);
	part->owner = &s->workers[s->shares.owners[port]];
	return share_change_begin(share, groups, s->group_count, slot, &g->changes, &part->change,
				  why) == 0;
}

static bool group_begin(struct server_change *c, struct group_change *g, unsigned slot,
			char why[LIVE_LINE]) {
	struct served_group *group = g->group;
	const struct service_group *sg = &group->live.sg;

	if (!change_keys_make(&g->keys, group, &g->changes, why))
		return false;
	g->downstream = ds_change_begin(group->downstream, sg, &g->changes, g->keys.down, why);
	if (g->downstream == NULL)
		return false;
	if (group->upstream != NULL) {
		g->upstream = us_change_begin(group->upstream, sg, &g->changes, g->keys.up, why);
		if (g->upstream == NULL)
			return false;
	}
	return share_begin(c, g, slot, DEVICE_NETWORK, &g->shares[0], why) &&
	       share_begin(c, g, slot, DEVICE_RPHY, &g->shares[1], why);
}

bool server_change_add(struct server_change *c, unsigned group, struct live_changes *changes,
		       char why[LIVE_LINE]) {
	struct group_change *g = calloc(1, sizeof(*g));

	if (g == NULL ||
	    (c->method != NULL && !unsaved_reserve(&c->server->unsaved, changes->count))) {
		free(g);
		snprintf(why, LIVE_LINE, "no memory left for a change");
		return false;
	}
	c->groups[c->count++] = g;
	g->group = &c->server->groups[group];
	g->changes = *changes;
	*changes = (struct live_changes){0};
	return group_begin(c, g, group, why);
}

bool server_changes_retired(const struct server *s, uint64_t generation) {
	for (const struct server_change *c = s->retiring; c != NULL; c = c->later) {
		if (c->generation <= generation)
			return false;
	}
	return true;
}

unsigned server_changes_retiring(const struct server *s) {
	unsigned n = 0;

	for (const struct server_change *c = s->retiring; c != NULL; c = c->later)
		n++;
	return n;
}

static bool changes_overlap(const struct live_changes *a, const struct live_changes *b) {
	for (size_t i = 0; i < a->count; i++) {
		for (size_t k = 0; k < b->count; k++) {
			if (a->list[i].object == b->list[k].object &&
			    a->list[i].slot == b->list[k].slot)
				return true;
		}
	}
	return false;
}

bool server_changes_overlap(const struct server *s, unsigned group,
			    const struct live_changes *changes) {
	for (const struct server_change *c = s->retiring; c != NULL; c = c->later) {
		for (unsigned g = 0; g < c->count; g++) {
			if (c->groups[g]->group == &s->groups[group] &&
			    changes_overlap(&c->groups[g]->changes, changes))
				return true;
		}
	}
	return false;
}

static void watched_begin(struct server *s, struct watched_change *w, uint64_t generation) {
	*w = (struct watched_change){.number = ++s->watched, .generation = generation};
}

void server_notify_differences(struct server_change *c) {
	const struct server_watcher *watcher = c->server->watcher;
	struct server_difference list[SERVER_MAX_GROUPS];

	watched_begin(c->server, &c->watched, c->server->generation + 1);
	for (unsigned i = 0; i < c->count; i++) {
		const struct group_change *g = c->groups[i];

		c->watched.ids[c->watched.count++] = g->group->sg->id;
		list[i] = (struct server_difference){g->group, &g->changes};
	}
	if (watcher != NULL)
		watcher->differs(watcher->arg, &c->watched, list);
}

void server_notify_group(struct server *s, struct watched_change *w, const struct group_watch *g) {
	watched_begin(s, w, s->generation + (g->what != WATCH_MOVED));
	w->ids[w->count++] = g->group->sg->id;
	if (s->watcher != NULL)
		s->watcher->group(s->watcher->arg, w, g);
}

void server_notify_applied(const struct server *s, const struct watched_change *w) {
	if (s->watcher != NULL)
		s->watcher->applied(s->watcher->arg, w);
}

void server_notify_retired(const struct server *s, const struct watched_change *w) {
	if (s->watcher != NULL)
		s->watcher->retired(s->watcher->arg, w);
}

void server_notify_reloaded(const struct server *s, const char *line) {
	if (s->watcher != NULL)
		s->watcher->reloaded(s->watcher->arg, s->generation, line);
}

static void group_close(struct group_change *g) {
	for (unsigned p = 0; p < RTE_DIM(g->shares); p++)
		share_change_end(g->shares[p].change);
	if (g->upstream != NULL)
		us_change_end(g->upstream);
	if (g->downstream != NULL)
		ds_change_end(g->downstream);
	change_keys_free(&g->keys, g->group);
	live_changes_free(&g->changes);
	free(g);
}

void server_change_close(struct server_change *c) {
	if (c == NULL)
		return;
	if (c->applied)
		server_notify_retired(c->server, &c->watched);
	for (unsigned i = 0; i < c->count; i++)
		group_close(c->groups[i]);
	free(c);
}
