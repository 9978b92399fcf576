/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/links/port_states.h"

#include "platform/checksums.h"
#include "platform/port_watch.h"
#include "server/groups.h"
#include "server/running.h"
#include "server/steering.h"

static bool step_shut(void *share) {
	share_send_shut(share, true);
	return true;
}

static bool step_open(void *share) {
	share_send_shut(share, false);
	return true;
}

/* Sets the sinks of the port's groups and share to transmit or to drop, by the port's state. */
static void port_wire(struct server *s, unsigned index) {
	const struct server_port *port = &s->ports.list[index];
	bool shut = server_port_shut(port) != DROP_NONE;
	struct port_share *share = s->shares.of[index];
	struct worker_task task = {shut ? step_shut : step_open, share};

	if (share != NULL)
		worker_do(&s->workers[s->shares.owners[index]], &task);
	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].in_service && s->ports.of[g][port->role] == index)
			server_group_connect(s, g);
	}
}

/* Sets the state and, if the reason to drop changed, tells the workers. */
static void state_set(struct server *s, unsigned index, enum server_port_state state) {
	struct server_port *port = &s->ports.list[index];
	enum drop_reason before = server_port_shut(port);

	pthread_rwlock_wrlock(&s->lock); /* other threads read ports */
	port->state = state;
	port->had_link |= state == SERVER_PORT_UP;
	pthread_rwlock_unlock(&s->lock);
	if (server_port_shut(port) != before)
		port_wire(s, index);
}

/* Closes a port whose device was or must be removed, once no worker polls it. */
static void port_lose(struct server *s, unsigned index) {
	struct port_share *share = s->shares.of[index];

	/* from here on, no worker sleeps on its interrupt or address */
	server_wakes_set(s, true);
	if (share != NULL)
		share_close(share);
	state_set(s, index, SERVER_PORT_GONE);
	server_synchronize(s);
	server_steering_end(s, index);
	pthread_rwlock_wrlock(&s->lock);
	server_port_detach(&s->ports.list[index]);
	pthread_rwlock_unlock(&s->lock);
	server_wakes_set(s, false);
}

static bool is_lost(const struct server_port *port, bool check_devices) {
	return port_must_release(port->id) || (check_devices && port_is_removed(port->id));
}

/* Looks for removed ports, and if `links`, for changed links. */
static void look(struct links *l, bool links, bool check_devices) {
	struct server *s = l->server;

	for (unsigned p = 0; p < s->ports.count; p++) {
		struct server_port *port = &s->ports.list[p];
		enum server_port_state state;

		if (!port->open)
			continue;
		if (is_lost(port, check_devices)) {
			port_lose(s, p);
			continue;
		}
		if (!links)
			continue;
		state = port_has_link(port->id) ? SERVER_PORT_UP : SERVER_PORT_DOWN;
		if (state != port->state)
			state_set(s, p, state);
	}
}

void links_open(struct links *l, struct server *s, uint64_t now) {
	*l = (struct links){.server = s, .links_checked = now, .devices_checked = now};
	look(l, true, true);
}

void links_update(struct links *l, uint64_t now) {
	bool links = now - l->links_checked >= LINKS_CHECK_NS,
	     check_devices = now - l->devices_checked >= LINKS_DEVICE_CHECK_NS;

	look(l, links, check_devices);
	if (links) {
		checksums_report();
		l->links_checked = now;
	}
	if (check_devices)
		l->devices_checked = now;
}
