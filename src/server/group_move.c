/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Moves groups and shared ports to other workers. One worker uses a port queue at a time. A worker
 * that is not the port owner sends by the ring. It continues to do so when it becomes the owner,
 * since packets in the ring go first.
 */
#include "server/changes.h"
#include "server/group_lifecycle.h"
#include "server/groups.h"
#include "server/running.h"

static unsigned *part_worker(struct layout_group *at, enum layout_part part) {
	return part == PART_UPPER ? &at->upper : part == PART_LOWER ? &at->lower : &at->upstream;
}

/* Creates rings to the shared ports to which the parts send, except where the worker owns the port.
 * Returns 0 or -1. */
static int rings_for(struct server *s, unsigned group, unsigned parts, unsigned worker) {
	unsigned size = server_share_ring(s->group_max);

	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		unsigned port = s->ports.of[group][role];
		unsigned part = role == DEVICE_RPHY ? PART_LOWER : PART_UPSTREAM;

		if (port == SERVER_NO_PORT || s->shares.of[port] == NULL || (parts & part) == 0 ||
		    s->shares.owners[port] == worker)
			continue;
		if (server_share_send(&s->shares, s->workers, port, size) != 0)
			return -1;
	}
	return 0;
}

static void part_move(struct server *s, unsigned group, enum layout_part part, unsigned worker) {
	*part_worker(&s->layout.groups[group], part) = worker;
	served_group_move(&s->groups[group], part, &s->workers[worker]);
}

static void workers_changed(struct server *s) {
	pthread_rwlock_wrlock(&s->lock);
	server_name_workers(s);
	pthread_rwlock_unlock(&s->lock);
}

/* The worker has free entries, and rings_for() has created the rings. */
static void parts_move(struct server *s, unsigned group, unsigned parts, unsigned worker) {
	server_group_connect(s, group);
	for (unsigned part = PART_UPPER; part < PARTS; part <<= 1) {
		if ((parts & part) != 0 &&
		    served_group_worker(&s->groups[group], part) != &s->workers[worker])
			part_move(s, group, part, worker);
	}
}

/* All groups of the port send by its ring, whichever worker owns it. */
static void senders_by_ring(struct server *s, unsigned port) {
	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].in_service && s->ports.of[g][s->ports.list[port].role] == port)
			server_group_connect(s, g);
	}
}

/* Creates what the port and its senders need to change to another worker. */
static int port_prepare(struct server *s, unsigned port) {
	return server_share_send(&s->shares, s->workers, port, server_share_ring(s->group_max));
}

/* Call it after port_prepare(); the worker has free entries. */
static void port_move(struct server *s, unsigned port, unsigned worker) {
	bool receives = s->shares.receives[port];

	senders_by_ring(s, port);
	server_share_stop(&s->shares, s->workers, port);
	s->shares.owners[port] = worker;
	if (receives)
		server_share_receive(&s->shares, s->workers, port);
	port_prepare(s, port);
}

/* Parts of groups, and ports, that move to a worker. */
struct moves {
	unsigned parts[SERVER_MAX_GROUPS];
	bool ports[SERVER_PORTS_MAX];
	unsigned worker;
};

/* Does everything that can fail. */
static int moves_reserve(struct server *s, const struct moves *m) {
	unsigned lists = 0;

	for (unsigned g = 0; g < s->group_count; g++) {
		if (m->parts[g] == 0)
			continue;
		lists += LAYOUT_GROUP_WORKERS * SERVED_GROUP_PART;
		if (rings_for(s, g, m->parts[g], m->worker) != 0)
			return -1;
	}
	for (unsigned p = 0; p < s->ports.count; p++) {
		if (!m->ports[p])
			continue;
		lists += SHARE_LISTS;
		if (port_prepare(s, p) != 0)
			return -1;
	}
	return worker_reserve(&s->workers[m->worker], lists);
}

/* Reports the move when it is done, since only the workers differ. */
static void notify_move(struct server *s, unsigned group) {
	const struct group_watch g = {WATCH_MOVED, .group = &s->groups[group],
				      .at = &s->layout.groups[group]};
	struct watched_change watched;

	server_notify_group(s, &watched, &g);
	server_notify_applied(s, &watched);
	server_notify_retired(s, &watched);
}

/* Whether other workers send on the port, through a ring. */
static bool has_ring(const struct server *s, unsigned port) {
	return s->shares.of[port] != NULL && s->shares.of[port]->send.ring != NULL;
}

/* Does the same; frees the rings that it created if it fails. */
static int moves_prepare(struct server *s, const struct moves *m) {
	bool before[SERVER_PORTS_MAX];

	for (unsigned p = 0; p < s->ports.count; p++)
		before[p] = has_ring(s, p);
	if (moves_reserve(s, m) == 0)
		return 0;
	for (unsigned p = 0; p < s->ports.count; p++) {
		if (!before[p] && has_ring(s, p))
			server_share_send_undo(&s->shares, s->workers, p);
	}
	return -1;
}

/* Nothing fails after moves_prepare(). */
static int moves_make(struct server *s, const struct moves *m) {
	server_changes_settle(s);
	if (moves_prepare(s, m) != 0)
		return -1;
	server_wakes_set(s, true);
	for (unsigned g = 0; g < s->group_count; g++) {
		if (m->parts[g] != 0)
			parts_move(s, g, m->parts[g], m->worker);
	}
	for (unsigned p = 0; p < s->ports.count; p++) {
		if (m->ports[p])
			port_move(s, p, m->worker);
	}
	workers_changed(s);
	for (unsigned g = 0; g < s->group_count; g++) {
		if (m->parts[g] != 0)
			notify_move(s, g);
	}
	return 0;
}

static void moves_of_ports(const struct server *s, struct moves *m, const unsigned *of,
			   unsigned from) {
	for (unsigned p = 0; p < s->ports.count; p++)
		m->ports[p] = s->shares.of[p] != NULL && of[p] == from &&
			      s->shares.owners[p] != m->worker;
}

static void moves_of_groups(const struct server *s, struct moves *m, const struct layout *layout,
			    unsigned from) {
	struct group_slots slots = server_slots(s);

	for (unsigned g = 0; g < slots.count; g++)
		m->parts[g] = layout_parts(layout, &slots, g, from);
}

int server_move_group(struct server *s, unsigned group, unsigned parts, unsigned worker) {
	struct moves m = {.worker = worker};

	m.parts[group] = parts;
	return moves_make(s, &m);
}

int server_move_ports(struct server *s, unsigned from, unsigned to) {
	struct moves m = {.worker = to};

	moves_of_ports(s, &m, s->shares.owners, from);
	return moves_make(s, &m);
}

int server_worker_drain(struct server *s, unsigned worker, unsigned to) {
	struct moves m = {.worker = to};

	moves_of_groups(s, &m, &s->layout, worker);
	moves_of_ports(s, &m, s->shares.owners, worker);
	return moves_make(s, &m);
}

int server_worker_resume(struct server *s, unsigned worker) {
	struct moves m = {.worker = worker};

	moves_of_groups(s, &m, &s->planned, worker);
	moves_of_ports(s, &m, s->shares.planned, worker);
	return moves_make(s, &m);
}
