/* SPDX-License-Identifier: BSD-3-Clause */
/* Removes a group: closes its inputs, drains it, drops and counts the rest. */
#include <stdio.h>

#include "platform/log/log.h"
#include "server/changes.h"
#include "server/group_drain.h"
#include "server/group_lifecycle.h"
#include "server/groups.h"
#include "server/running.h"
#include "server/steering.h"
#include "sharing/group_removal.h"
#include "sharing/steered.h"

struct departure {
	struct server *server;
	unsigned group;
};

static struct port_share *share_of(const struct departure *d, enum device_role role) {
	unsigned port = d->server->ports.of[d->group][role];

	return port == SERVER_NO_PORT ? NULL : d->server->shares.of[port];
}

static void table_forget(struct departure *d, enum device_role role) {
	struct server *s = d->server;
	struct share_group_removal f = {.share = share_of(d, role), .group = d->group};
	struct worker_task task = {share_group_remove, &f};

	worker_do(&s->workers[s->shares.owners[s->ports.of[d->group][role]]], &task);
}

/* Removes the group from the tables of its shared ports, even without memory for new tables. From
 * then on they have no packet for it. */
static void tables_leave(struct departure *d) {
	struct server *s = d->server;
	struct shares_context site = server_shares_context(s);
	struct share_table *before[DEVICE_ROLES] = {NULL};
	char why[LIVE_LINE];

	site.groups.list[d->group] = NULL;
	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		struct port_share *share = share_of(d, role);

		if (share == NULL || share->members[d->group].ring == NULL)
			continue;
		before[role] = server_share_table(&site, s->ports.of[d->group][role], why);
		if (before[role] != NULL) {
			before[role] = share_table_replace(share, before[role]);
			continue;
		}
		log_error("port", LOG_NO_FIELDS, "%s", why);
		table_forget(d, role);
	}
	server_synchronize(s);
	for (enum device_role role = 0; role < DEVICE_ROLES; role++)
		share_table_free(before[role]);
}

static uint64_t rings_pending(const struct departure *d) {
	uint64_t pending = 0;

	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		const struct port_share *share = share_of(d, role);
		const struct rte_ring *ring = share != NULL ? share->members[d->group].ring : NULL;

		pending += ring != NULL ? rte_ring_count(ring) : 0;
	}
	return pending;
}

/* Its sources and sinks while it leaves: rings and queues of shared ports, nothing of its own
 * ports. */
static void departure_wire(struct departure *d) {
	struct server *s = d->server;
	struct served_group *g = &s->groups[d->group];
	struct group_endpoints endpoints, rings;

	g->drained = false; /* its rings still have packets for it */
	endpoints = server_group_endpoints(s, d->group);
	g->drained = true;
	rings = server_group_endpoints(s, d->group);
	g->drained = false;
	if (endpoints.from_network.ring == NULL)
		endpoints.from_network = rings.from_network;
	if (endpoints.from_rphy.ring == NULL)
		endpoints.from_rphy = rings.from_rphy;
	served_group_connect(g, &endpoints);
}

/* Removes its NIC rules. The group receives what they steered before the shared ports forget it. */
static void departure_unsteer(struct departure *d, uint64_t end) {
	struct server *s = d->server;

	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		const struct port_share *share = share_of(d, role);
		unsigned us = 0;

		if (share == NULL || share->members[d->group].queue.id == 0)
			continue;
		departure_wire(d);
		server_steering_clear(s, s->ports.of[d->group][role], d->group);
		while (!share_queue_settled(share, d->group) && server_now(s) < end &&
		       server_wait(s, &us))
			;
	}
}

/* Receives what its rings have, then ends reception, so that pending parts expire by their timers.
 * A port of its own is not polled at all. */
static void departure_drain(struct departure *d, uint64_t end) {
	struct server *s = d->server;
	struct served_group *g = &s->groups[d->group];
	unsigned us = 0;

	departure_wire(d);
	while (rings_pending(d) > 0 && server_now(s) < end && server_wait(s, &us))
		;
	g->drained = true;
	server_group_connect(s, d->group);
	served_group_end(g);
	group_wait_empty(s, d->group, end);
}

/* The rest in the ring of a group that no table has. */
struct ring_end {
	struct port_share *share;
	unsigned group;
};

static bool ring_end_step(void *arg) {
	const struct ring_end *e = arg;

	return share_member_drain(e->share, e->group, PIPELINE_BURST);
}

static void share_leave(struct departure *d, enum device_role role) {
	struct server *s = d->server;
	struct port_share *share = share_of(d, role);
	struct ring_end e = {share, d->group};
	struct worker_task task = {ring_end_step, &e};
	unsigned port = s->ports.of[d->group][role];

	if (share == NULL)
		return;
	if (share->members[d->group].ring != NULL) {
		worker_do(&s->workers[s->shares.owners[port]], &task);
		share_member_close(share, d->group);
	}
	if (s->ports.list[port].users > 1)
		return;
	server_steering_end(s, port);
	server_share_stop(&s->shares, s->workers, port);
	pthread_rwlock_wrlock(&s->lock); /* other threads read ports */
	server_share_end(&s->shares, port, &s->removed.ports);
	pthread_rwlock_unlock(&s->lock);
}

/* Returns the buffers reserved for a port that is closed, or for the group's ring on one that
 * stays. */
static void buffers_leave(struct departure *d, enum device_role role) {
	struct server *s = d->server;
	unsigned index = s->ports.of[d->group][role];
	struct server_port *port = &s->ports.list[index];
	struct pool_needs needs;
	unsigned ring;

	if (index == SERVER_NO_PORT)
		return;
	ring = s->shares.of[index] != NULL ? server_share_ring(s->group_max) : 0;
	needs = server_port_needs(role, port->users > 1 ? ring : port->counted);
	server_pools_release(&s->pools, &needs);
	port->counted -= port->users > 1 ? ring : port->counted;
}

static void ports_leave(struct departure *d) {
	struct server *s = d->server;
	struct group_slots slots = server_slots(s);

	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		unsigned port = s->ports.of[d->group][role];

		buffers_leave(d, role);
		share_leave(d, role);
		pthread_rwlock_wrlock(&s->lock);
		server_ports_leave(&s->ports, slots.list, d->group, role);
		pthread_rwlock_unlock(&s->lock);
		if (port != SERVER_NO_PORT)
			server_steer(s, port); /* a remaining group may be alone in a VLAN now */
	}
}

/* Adds its counters to those of the server. */
static void departure_sum(struct server *s, const struct served_group *g) {
	struct server_removed *removed = &s->removed;
	struct counters down;

	removed->groups++;
	downstream_counters(g->downstream, &down);
	counters_add(&removed->down, &down);
	if (g->upstream == NULL)
		return;
	counters_add(&removed->up, &g->upstream->counters);
	for (enum unit unit = 0; unit < UNITS; unit++) {
		removed->up_in[unit] += upstream_in(g->upstream, unit);
		removed->up_out[unit] += upstream_out(g->upstream, unit);
	}
	for (unsigned k = 0; k < REQUEST_KINDS; k++)
		removed->requests[k] += g->upstream->requests.sink.by_kind[k];
}

/* Removes it from its workers and from the sight of other threads: now only this thread uses it. */
static void departure_end(struct departure *d) {
	struct server *s = d->server;
	struct served_group *g = &s->groups[d->group];
	struct pool_needs needs = g->needs;

	served_group_leave(g, PART_UPPER | PART_LOWER | PART_UPSTREAM);
	server_synchronize(s);
	served_group_stop(g);
	pthread_rwlock_wrlock(&s->lock);
	departure_sum(s, g);
	g->in_service = false;
	s->generation++;
	while (s->group_count > 0 && !s->groups[s->group_count - 1].in_service)
		s->group_count--;
	server_name_workers(s);
	pthread_rwlock_unlock(&s->lock);
	/* from here on, no worker sleeps on a port's interrupt or address */
	server_wakes_set(s, true);
	ports_leave(d);
	server_wakes_set(s, false);
	served_group_free(g);
	server_pools_release(&s->pools, &needs);
}

static bool refused(char *why, const char *what) {
	snprintf(why, LIVE_LINE, "%s", what);
	return false;
}

void server_group_leave(struct server *s, unsigned group, unsigned limit_ms) {
	struct departure d = {.server = s, .group = group};
	struct watched_change watched;
	unsigned id = s->groups[group].sg->id;
	uint64_t end = server_now(s) + (uint64_t)limit_ms * SERVER_MS;

	server_changes_settle(s);
	server_notify_group(s, &watched,
			    &(struct group_watch){WATCH_REMOVED, .group = &s->groups[group]});
	group_grants_end(s, group, end);
	departure_unsteer(&d, end);
	tables_leave(&d);
	departure_drain(&d, end);
	departure_end(&d);
	server_notify_applied(s, &watched);
	server_notify_retired(s, &watched);
	log_info("group", LOG_FIELDS(LOG_NUMBER("service_group", id)), "service group %u removed",
		 id);
}

bool server_group_remove(struct server *s, unsigned group, unsigned limit_ms, char why[LIVE_LINE]) {
	unsigned groups = 0;

	for (unsigned g = 0; g < s->group_count; g++)
		groups += s->groups[g].in_service;
	if (group >= s->group_count || !s->groups[group].in_service)
		return refused(why, "no such service group");
	if (groups == 1)
		return refused(why, "a server has at least one service group");
	server_group_leave(s, group, limit_ms);
	return true;
}
