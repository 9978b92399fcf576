/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Groups and shared ports on other workers. A queue of a port has one worker at a time; who is not the owner of a
 * shared port sends to it by its ring, and goes on doing so when he is the owner again: what stands in the ring
 * comes first.
 */
#include "server/changes.h"
#include "server/group_life.h"
#include "server/groups.h"
#include "server/running.h"

static unsigned *place_of(struct layout_group *at, enum layout_part part) {
	return part == PART_UPPER ? &at->upper : part == PART_LOWER ? &at->lower : &at->upstream;
}

/* The shared ports to which the parts send get a ring, where the worker does not own them. Returns 0 or -1. */
static int rings_for(struct server *s, unsigned group, unsigned parts, unsigned worker) {
	unsigned size = server_share_ring(s->group_most);

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
	*place_of(&s->layout.groups[group], part) = worker;
	served_group_move(&s->groups[group], part, &s->workers[worker]);
}

static void workers_changed(struct server *s) {
	pthread_rwlock_wrlock(&s->lock);
	server_name_workers(s);
	pthread_rwlock_unlock(&s->lock);
}

int server_move_group(struct server *s, unsigned group, unsigned parts, unsigned worker) {
	struct worker *to = &s->workers[worker];

	server_changes_settle(s);
	if (worker_reserve(to, LAYOUT_GROUP_WORKERS * SERVED_GROUP_PART) != 0 ||
	    rings_for(s, group, parts, worker) != 0)
		return -1;
	server_group_wire(s, group);
	for (unsigned part = PART_UPPER; part < PARTS; part <<= 1) {
		if ((parts & part) != 0 && served_group_worker(&s->groups[group], part) != to)
			part_move(s, group, part, worker);
	}
	workers_changed(s);
	return 0;
}

/* All that send to the port do so by the ring, whoever owns it. */
static int senders_by_ring(struct server *s, unsigned port) {
	if (server_share_send(&s->shares, s->workers, port, server_share_ring(s->group_most)) != 0)
		return -1;
	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].there && s->ports.of[g][s->ports.list[port].role] == port)
			server_group_wire(s, g);
	}
	return 0;
}

static int port_move(struct server *s, unsigned port, unsigned worker) {
	bool receives = s->shares.receives[port];
	unsigned size = server_share_ring(s->group_most);

	if (worker_reserve(&s->workers[worker], SHARE_LISTS) != 0 || senders_by_ring(s, port) != 0)
		return -1;
	server_share_stop(&s->shares, s->workers, port);
	s->shares.owners[port] = worker;
	if (receives)
		server_share_receive(&s->shares, s->workers, port); /* there is room */
	return server_share_send(&s->shares, s->workers, port, size);
}

int server_move_ports(struct server *s, unsigned from, unsigned to) {
	server_changes_settle(s);
	for (unsigned p = 0; p < s->ports.count; p++) {
		if (s->shares.of[p] != NULL && s->shares.owners[p] == from &&
		    port_move(s, p, to) != 0)
			return -1;
	}
	return 0;
}

int server_worker_drain(struct server *s, unsigned worker, unsigned to) {
	struct group_slots slots = server_slots(s);

	for (unsigned g = 0; g < slots.count; g++) {
		unsigned parts = layout_parts(&s->layout, &slots, g, worker);

		if (parts != 0 && server_move_group(s, g, parts, to) != 0)
			return -1;
	}
	return server_move_ports(s, worker, to);
}

int server_worker_resume(struct server *s, unsigned worker) {
	struct group_slots slots = server_slots(s);

	server_changes_settle(s);
	for (unsigned g = 0; g < slots.count; g++) {
		unsigned parts = layout_parts(&s->home, &slots, g, worker);

		if (parts != 0 && server_move_group(s, g, parts, worker) != 0)
			return -1;
	}
	for (unsigned p = 0; p < s->ports.count; p++) {
		if (s->shares.of[p] != NULL && s->shares.homes[p] == worker &&
		    s->shares.owners[p] != worker && port_move(s, p, worker) != 0)
			return -1;
	}
	return 0;
}
