/* SPDX-License-Identifier: BSD-3-Clause */
/* A group that comes: all that can fail is prepared beside the workers, then it is taken into service. */
#include <stdio.h>
#include <string.h>

#include "log/log.h"
#include "platform/port.h"
#include "server/changes.h"
#include "server/group_life.h"
#include "server/groups.h"
#include "server/measure.h"
#include "server/placement.h"
#include "server/running.h"
#include "server/steering.h"

/* Lists that one worker may get: those of the group, and two of each shared port. */
#define LISTS_MOST (LAYOUT_GROUP_WORKERS * SERVED_GROUP_PART + DEVICE_ROLES * SHARE_LISTS)

struct arrival {
	struct server *server;
	const struct service_group *sg;
	unsigned group;
	char *why;
	struct shares_site site; /* with it */
	struct pool_needs needs; /* with those of its ports */
	bool taken;
	/* By role, what was done for it: */
	struct arrival_port {
		bool joined;
		bool plugged; /* the device is its own */
		bool made; /* the share, as nobody shared the port before */
		bool lane;
		bool send_ring;
		unsigned descriptors; /* that buffers are taken for */
		struct share_table *table; /* that is to be, or was */
	} ports[DEVICE_ROLES];
};

static bool refused(struct arrival *a, const char *what) {
	snprintf(a->why, LIVE_LINE, "service group %u: %.340s", a->sg->id, what);
	return false;
}

static unsigned port_of(const struct arrival *a, enum device_role role) {
	return a->server->ports.of[a->group][role];
}

/* A number, and workers. */
static bool arrival_place(struct arrival *a) {
	struct server *s = a->server;
	struct layout_group at;
	char text[LIVE_LINE];

	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].there && s->groups[g].sg->id == a->sg->id)
			return refused(a, "is there already");
	}
	while (a->group < s->group_most && s->groups[a->group].sg != NULL)
		a->group++;
	if (a->group == s->group_most)
		return refused(a,
			       "max_groups: as many groups are there as the server has room for");
	if (!placement_takes(&s->layout, s->machine, s->config->main_core, a->sg, text,
			     sizeof(text)))
		return refused(a, text);
	at = layout_find(&s->layout, a->sg);
	s->layout.groups[a->group] = s->home.groups[a->group] = at;
	for (enum device_role role = 0; role < DEVICE_ROLES; role++)
		s->ports.of[a->group][role] = SERVER_NO_PORT;
	return true;
}

/* The port, where the device is there, takes its packets, and is of this kind. */
static bool port_suits(struct arrival *a, enum device_role role) {
	const struct server_ports *ports = &a->server->ports;
	unsigned index = server_ports_having(ports, device_port(a->sg, role)->device);

	if (index == SERVER_NO_PORT)
		return ports->count < SERVER_PORTS_MAX || refused(a, "ports: too many");
	if (ports->list[index].role != role)
		return refused(a, "ports: a device that is another port's");
	if (server_port_mtu(a->sg, role) > ports->list[index].mtu)
		return refused(a, role == DEVICE_RPHY ? "rphy.mtu: larger than that of the port"
						      : "max_frame: larger than that of the port");
	return true;
}

static bool arrival_ports(struct arrival *a) {
	struct server *s = a->server;
	const struct server_pools *pools = &s->pools;
	struct rte_mempool *uepi = pools->uepi != NULL ? pools->uepi : pools->packets;

	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		unsigned index;

		if (device_port(a->sg, role)->device == NULL)
			continue;
		if (!port_suits(a, role))
			return false;
		pthread_rwlock_wrlock(&s->lock); /* others tell of ports */
		index = server_ports_join(&s->ports, a->sg, a->group, role,
					  role == DEVICE_RPHY ? uepi : pools->packets);
		pthread_rwlock_unlock(&s->lock);
		if (index == SERVER_NO_PORT)
			return refused(a, "ports: a device cannot be opened");
		a->ports[role].joined = true;
		a->ports[role].plugged = s->ports.list[index].users == 1;
	}
	return true;
}

/* Descriptors of a port of its own, and rings of one that is shared. */
static unsigned descriptors_of(const struct arrival *a, enum device_role role) {
	const struct server *s = a->server;
	unsigned index = port_of(a, role), ring = server_share_ring(s->group_most);
	const struct server_port *port = &s->ports.list[index];
	unsigned own = a->ports[role].plugged ? port->queue_size : 0;

	if (s->shares.of[index] != NULL)
		return ring;
	return port->shared ? own + (port->users + 1) * ring : own;
}

static bool arrival_buffers(struct arrival *a) {
	struct server *s = a->server;
	const char *missing;

	a->needs = server_group_needs(s->config, a->sg);
	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		struct pool_needs n;

		if (!a->ports[role].joined)
			continue;
		a->ports[role].descriptors = descriptors_of(a, role);
		n = server_port_needs(role, a->ports[role].descriptors);
		pool_needs_add(&a->needs, &n);
	}
	missing = server_pools_take(&s->pools, a->sg, &a->needs);
	if (missing != NULL)
		return refused(a, missing);
	a->taken = true;
	if (server_port_wants_linear(a->sg, server_port_of(&s->ports, a->group, DEVICE_RPHY)) &&
	    server_pools_linear(&s->pools) != 0)
		return refused(a, "no memory for copies of DEPI frames");
	return true;
}

/* Whether a worker that does not own the port sends to it. */
static bool sends_from_afar(const struct arrival *a, enum device_role role) {
	const struct layout_group *at = &a->server->layout.groups[a->group];
	unsigned owner = a->server->shares.owners[port_of(a, role)];

	return role == DEVICE_RPHY ? at->lower != owner
				   : layout_has_upstream(a->sg) && at->upstream != owner;
}

/* One more on a port that is shared. */
static bool share_join(struct arrival *a, enum device_role role) {
	struct server *s = a->server;
	unsigned index = port_of(a, role), ring = server_share_ring(s->group_most);
	struct port_share *share = s->shares.of[index];
	struct arrival_port *port = &a->ports[role];

	if (sends_from_afar(a, role) && share->send.ring == NULL) {
		if (share_send_open(share, ring) != 0)
			return false;
		port->send_ring = true;
	}
	if (!server_share_is_read(a->sg, role))
		return true;
	if (share_lane_open(share, a->group, ring) != 0)
		return false;
	port->lane = true;
	server_share_way(&s->shares, &s->ports, index, a->group, a->sg);
	server_synchronize(s); /* the owner reads its queue no more */
	port->table = server_share_table(&a->site, index);
	return port->table != NULL;
}

/* The share of a port, which may be one that has to be made. */
static bool share_prepare(struct arrival *a, enum device_role role) {
	struct server *s = a->server;
	unsigned index = port_of(a, role);
	struct port_share *share;

	if (s->shares.of[index] != NULL)
		return share_join(a, role);
	if (!s->ports.list[index].shared)
		return true;
	a->ports[role].made = true;
	if (server_share_make(&s->shares, &a->site, index) != 0)
		return false;
	share = s->shares.of[index];
	server_measure_share(s, share);
	return true;
}

static bool arrival_shares(struct arrival *a) {
	char said[LIVE_LINE] = "", what[LIVE_LINE];
	bool good = true;

	a->site.errors = fmemopen(said, sizeof(said), "w");
	for (enum device_role role = 0; role < DEVICE_ROLES && good; role++)
		good = !a->ports[role].joined || share_prepare(a, role);
	if (a->site.errors != NULL)
		fclose(a->site.errors);
	a->site.errors = NULL;
	said[strcspn(said, "\n")] = '\0';
	snprintf(what, sizeof(what), "%s", said[0] != '\0' ? said : "no memory to share its ports");
	return good || refused(a, what);
}

static bool arrival_group(struct arrival *a) {
	struct server *s = a->server;
	struct served_group *g = &s->groups[a->group];

	if (server_group_make(s, a->group, a->sg) != 0)
		return refused(a, "no memory for its tables");
	if (server_measure_group(s, a->group) != 0)
		return refused(a, "no memory to measure latencies");
	g->needs = server_group_needs(s->config, a->sg);
	return true;
}

/* Room at its workers and at those of its ports, so that nothing fails afterwards. */
static bool arrival_room(struct arrival *a) {
	struct server *s = a->server;
	struct served_group *g = &s->groups[a->group];
	int ret = worker_reserve(g->upper, LISTS_MOST) | worker_reserve(g->lower, LISTS_MOST) |
		  worker_reserve(g->upstream_worker, LISTS_MOST);

	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		unsigned index = port_of(a, role);

		if (!a->ports[role].joined)
			continue;
		if (s->shares.of[index] != NULL)
			ret |= worker_reserve(&s->workers[s->shares.owners[index]], LISTS_MOST);
		if (a->ports[role].plugged &&
		    port_start(s->ports.list[index].id, server_port_name(role)) != 0)
			return refused(a, "ports: a device cannot be started");
	}
	return ret == 0 || refused(a, "no memory for its place at its workers");
}

static void share_undo(struct arrival *a, enum device_role role) {
	struct server *s = a->server;
	struct arrival_port *port = &a->ports[role];
	struct port_share *share = s->shares.of[port_of(a, role)];

	if (port->lane)
		share_lane_close(share, a->group);
	if (port->send_ring)
		share_send_close(share);
	if (port->made && share != NULL) {
		pthread_rwlock_wrlock(&s->lock);
		server_share_end(&s->shares, port_of(a, role), &s->gone.ports);
		pthread_rwlock_unlock(&s->lock);
	}
	share_table_free(port->table);
}

static void arrival_undo(struct arrival *a) {
	struct server *s = a->server;
	struct group_slots slots = server_slots(s);

	served_group_free(&s->groups[a->group]);
	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		if (!a->ports[role].joined)
			continue;
		share_undo(a, role);
		pthread_rwlock_wrlock(&s->lock);
		server_ports_part(&s->ports, slots.list, a->group, role);
		pthread_rwlock_unlock(&s->lock);
	}
	if (a->taken)
		server_pools_give_back(&s->pools, &a->needs);
}

/* The group that had the port for itself so far has the share's ring for its source, then the owner asks the
 * port in its place. */
static void share_begin(struct arrival *a, unsigned index) {
	struct server *s = a->server;
	enum device_role role = s->ports.list[index].role;

	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].there && g != a->group && s->ports.of[g][role] == index)
			server_group_wire(s, g);
	}
}

/* It is there, for its workers and for who tells of it. Cannot fail. */
static void arrival_take(struct arrival *a) {
	struct server *s = a->server;
	unsigned ring = server_share_ring(s->group_most);
	struct watched_change watched;

	server_tell_group(s, &watched,
			  &(struct group_watch){WATCH_ADDED, .group = &s->groups[a->group]});
	pthread_rwlock_wrlock(&s->lock);
	s->group_count = RTE_MAX(s->group_count, a->group + 1);
	s->groups[a->group].there = true;
	s->generation++;
	server_name_workers(s);
	pthread_rwlock_unlock(&s->lock);
	served_group_enter(&s->groups[a->group]);
	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		unsigned index = port_of(a, role);
		struct arrival_port *port = &a->ports[role];

		if (port->plugged) /* what the group was made of need not live on */
			s->ports.list[index].device =
				device_port(s->groups[a->group].sg, role)->device;
		if (port->joined)
			s->ports.list[index].counted += port->descriptors;
		if (!port->joined || s->shares.of[index] == NULL)
			continue;
		if (port->made)
			share_begin(a, index);
		if (s->shares.of[index]->send.ring != NULL)
			server_share_send(&s->shares, s->workers, index, ring);
		if (port->table != NULL)
			port->table = share_table_replace(s->shares.of[index], port->table);
		if (server_share_is_read_for(&a->site, index))
			server_share_receive(&s->shares, s->workers, index);
	}
	server_peers(s, false);
	server_synchronize(s);
	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		share_table_free(a->ports[role].table);
		if (a->ports[role].joined)
			server_steer(s, port_of(a, role));
	}
	server_tell_applied(s, &watched);
	server_tell_retired(s, &watched);
}

static bool arrival_prepare(struct arrival *a) {
	struct server *s = a->server;

	if (!arrival_ports(a) || !arrival_buffers(a))
		return false;
	a->site = server_site(s);
	a->site.groups.list[a->group] = a->sg;
	a->site.groups.count = RTE_MAX(a->site.groups.count, a->group + 1);
	return arrival_shares(a) && arrival_group(a) && arrival_room(a);
}

bool server_group_add(struct server *s, const struct service_group *sg, unsigned *group,
		      char why[LIVE_LINE]) {
	struct arrival a = {.server = s, .sg = sg, .why = why};

	server_changes_settle(s);
	if (!arrival_place(&a))
		return false;
	if (!arrival_prepare(&a)) {
		arrival_undo(&a);
		return false;
	}
	arrival_take(&a);
	*group = a.group;
	log_info("group",
		 LOG_FIELDS(LOG_NUMBER("service_group", sg->id), LOG_STRING("name", sg->name),
			    LOG_NUMBER("modems", sg->modem_count)),
		 "service group %u added: %zu modems", sg->id, sg->modem_count);
	return true;
}
