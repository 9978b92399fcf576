/* SPDX-License-Identifier: BSD-3-Clause */
/* Prepares a group: everything that can fail. Nothing of it is visible to workers or other
 * threads. */
#include "server/group_add.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/log/log.h"
#include "platform/port.h"
#include "server/changes.h"
#include "server/groups.h"
#include "server/measure.h"
#include "server/placement.h"
#include "server/running.h"
#include "server/steering.h"

/* Pipelines that one worker may get: those of the group, and two of each shared port. */
#define LISTS_MAX (LAYOUT_GROUP_WORKERS * SERVED_GROUP_PART + DEVICE_ROLES * SHARE_LISTS)

static bool refused(struct group_addition *a, const char *what) {
	snprintf(a->why, LIVE_LINE, "service group %u: %.340s", a->sg->id, what);
	return false;
}

static unsigned port_of(const struct group_addition *a, enum device_role role) {
	return a->server->ports.of[a->group][role];
}

/* Finds a slot and workers. */
static bool addition_slot(struct group_addition *a) {
	struct server *s = a->server;
	struct layout_group at;
	char text[LIVE_LINE];

	for (unsigned g = 0; g < s->group_count; g++) {
		if (s->groups[g].in_service && s->groups[g].sg->id == a->sg->id)
			return refused(a, "a group with this ID is in service already");
	}
	while (a->group < s->group_max && s->groups[a->group].sg != NULL)
		a->group++;
	if (a->group == s->group_max)
		return refused(a, "max_groups: the server has no capacity for a further group");
	if (!placement_allows(&s->layout, s->machine, s->config->main_core, a->sg, text,
			      sizeof(text)))
		return refused(a, text);
	at = layout_find(&s->layout, a->sg);
	a->layout_before = s->layout.groups[a->group];
	a->planned_before = s->planned.groups[a->group];
	s->layout.groups[a->group] = s->planned.groups[a->group] = at;
	for (enum device_role role = 0; role < DEVICE_ROLES; role++)
		s->ports.of[a->group][role] = SERVER_NO_PORT;
	return true;
}

/* Whether the group can use the open port of its device: same role, large enough MTU. */
static bool port_suits(struct group_addition *a, enum device_role role) {
	const struct server_ports *ports = &a->server->ports;
	unsigned index = server_ports_find_device(ports, device_port(a->sg, role)->device);

	if (index == SERVER_NO_PORT)
		return ports->count < SERVER_PORTS_MAX || refused(a, "ports: too many");
	if (ports->list[index].role != role)
		return refused(a, "ports: a device that is another port's");
	if (server_port_mtu(a->sg, role) > ports->list[index].mtu)
		return refused(a, role == DEVICE_RPHY ? "rphy.mtu: larger than that of the port"
						      : "max_frame: larger than that of the port");
	return true;
}

static bool addition_ports(struct group_addition *a) {
	struct server *s = a->server;
	const struct server_pools *pools = &s->pools;
	struct rte_mempool *uepi = pools->uepi != NULL ? pools->uepi : pools->packets;

	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		unsigned index;

		if (device_port(a->sg, role)->device == NULL)
			continue;
		if (!port_suits(a, role))
			return false;
		index = server_ports_find_device(&s->ports, device_port(a->sg, role)->device);
		if (index != SERVER_NO_PORT)
			a->ports[role].before = s->ports.list[index];
		pthread_rwlock_wrlock(&s->lock); /* other threads read ports */
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

/* Descriptors of a port of its own, or slots of rings on a shared one. */
static unsigned descriptors_of(const struct group_addition *a, enum device_role role) {
	const struct server *s = a->server;
	unsigned index = port_of(a, role), ring = server_share_ring(s->group_max);
	const struct server_port *port = &s->ports.list[index];
	unsigned own = a->ports[role].plugged ? port->queue_size : 0;

	if (s->shares.of[index] != NULL)
		return ring;
	return port->shared ? own + (port->users + 1) * ring : own;
}

static bool addition_buffers(struct group_addition *a) {
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
	missing = server_pools_reserve(&s->pools, a->sg, &a->needs);
	if (missing != NULL)
		return refused(a, missing);
	a->reserved = true;
	if (s->pools.linear != NULL ||
	    !server_port_needs_linear(a->sg, server_port_of(&s->ports, a->group, DEVICE_RPHY)))
		return true;
	a->linear = server_pools_linear(&s->pools) == 0;
	return a->linear || refused(a, "no memory for copies of DEPI frames");
}

/* Whether a worker that does not own the port sends to it. */
static bool sends_from_afar(const struct group_addition *a, enum device_role role) {
	const struct layout_group *at = &a->server->layout.groups[a->group];
	unsigned owner = a->server->shares.owners[port_of(a, role)];

	return role == DEVICE_RPHY ? at->lower != owner
				   : layout_has_upstream(a->sg) && at->upstream != owner;
}

/* Adds the group to a shared port. If its packets cannot be distinguished from those of other groups,
 * `why` names the conflict. */
static bool share_join(struct group_addition *a, enum device_role role, char why[LIVE_LINE]) {
	struct server *s = a->server;
	unsigned index = port_of(a, role), ring = server_share_ring(s->group_max);
	struct port_share *share = s->shares.of[index];
	struct addition_port *port = &a->ports[role];

	if (sends_from_afar(a, role) && share->send.ring == NULL) {
		if (share_send_open(share, ring) != 0)
			return false;
		port->send_ring = true;
	}
	if (!server_share_is_polled(a->sg, role))
		return true;
	if (share_member_open(share, a->group, ring) != 0)
		return false;
	port->ring = true;
	server_share_queue(&s->shares, &s->ports, index, a->group, a->sg);
	server_synchronize(s); /* the owner no longer polls its queue */
	port->table = server_share_table(&a->site, index, why);
	return port->table != NULL;
}

/* Joins the share of a port, or creates it. */
static bool share_prepare(struct group_addition *a, enum device_role role, char why[LIVE_LINE]) {
	struct server *s = a->server;
	unsigned index = port_of(a, role);
	struct port_share *share;

	if (s->shares.of[index] != NULL)
		return share_join(a, role, why);
	if (!s->ports.list[index].shared)
		return true;
	a->ports[role].made = true;
	if (server_share_make(&s->shares, &a->site, index, why) != 0)
		return false;
	share = s->shares.of[index];
	server_measure_share(s, share);
	return true;
}

static bool addition_shares(struct group_addition *a) {
	const struct server *s = a->server;
	char why[LIVE_LINE] = "";
	bool good = true;

	for (enum device_role role = 0; role < DEVICE_ROLES && good; role++) {
		struct addition_port *port = &a->ports[role];

		if (!port->joined)
			continue;
		good = share_prepare(a, role, why);
		port->has_share = s->shares.of[port_of(a, role)] != NULL;
		port->read = server_share_is_polled_for_any(&a->site, port_of(a, role));
	}
	return good || refused(a, why[0] != '\0' ? why : "no memory to share its ports");
}

static bool addition_group(struct group_addition *a) {
	struct server *s = a->server;
	struct served_group *g = &s->groups[a->group];

	if (server_group_make(s, a->group, a->sg) != 0)
		return refused(a, "no memory for its tables");
	if (server_measure_group(s, a->group) != 0)
		return refused(a, "no memory to measure latencies");
	g->needs = server_group_needs(s->config, a->sg);
	return true;
}

/* Pipelines that a worker may get from all prepared groups, including this one. */
static unsigned lists_needed(const struct server *s) {
	unsigned prepared = 0;

	for (unsigned g = 0; g < s->group_max; g++)
		prepared += s->groups[g].sg != NULL && !s->groups[g].in_service;
	return prepared * LISTS_MAX;
}

/* Reserves entries at the workers of the group and of its ports, so that nothing fails
 * afterwards. */
static bool addition_lists(struct group_addition *a) {
	struct server *s = a->server;
	struct served_group *g = &s->groups[a->group];
	unsigned lists = lists_needed(s);
	int ret = worker_reserve(g->upper, lists) | worker_reserve(g->lower, lists) |
		  worker_reserve(g->upstream_worker, lists);

	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		unsigned index = port_of(a, role);

		if (!a->ports[role].joined)
			continue;
		if (s->shares.of[index] != NULL)
			ret |= worker_reserve(&s->workers[s->shares.owners[index]], lists);
		if (a->ports[role].plugged &&
		    port_start(s->ports.list[index].id, device_role_title(role)) != 0)
			return refused(a, "ports: a device cannot be started");
	}
	return ret == 0 || refused(a, "no memory for its pipelines at its workers");
}

/* Reverses share_prepare(). */
static void share_undo(struct group_addition *a, enum device_role role) {
	struct server *s = a->server;
	struct addition_port *port = &a->ports[role];
	struct port_share *share = s->shares.of[port_of(a, role)];

	if (port->ring)
		share_member_close(share, a->group);
	if (port->send_ring)
		share_send_close(share);
	if (port->made && share != NULL) {
		pthread_rwlock_wrlock(&s->lock);
		server_share_end(&s->shares, port_of(a, role), &s->removed.ports);
		pthread_rwlock_unlock(&s->lock);
	}
	share_table_free(port->table);
}

/* Restores a port that was open before; another group may have become its first one. */
static void port_undo(struct group_addition *a, enum device_role role) {
	struct server *s = a->server;
	struct group_slots slots = server_slots(s);
	unsigned index = port_of(a, role);

	pthread_rwlock_wrlock(&s->lock);
	server_ports_leave(&s->ports, slots.list, a->group, role);
	if (!a->ports[role].plugged)
		s->ports.list[index] = a->ports[role].before;
	pthread_rwlock_unlock(&s->lock);
}

void server_group_abandon(struct group_addition *a) {
	struct server *s = a->server;

	served_group_free(&s->groups[a->group]);
	for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
		if (!a->ports[role].joined)
			continue;
		share_undo(a, role);
		port_undo(a, role);
	}
	if (a->reserved)
		server_pools_release(&s->pools, &a->needs);
	if (a->linear) {
		rte_mempool_free(s->pools.linear);
		s->pools.linear = NULL;
	}
	crypto_providers_close_behind(&s->crypto, a->providers);
	s->layout.groups[a->group] = a->layout_before;
	s->planned.groups[a->group] = a->planned_before;
	free(a);
}

/* The groups when this one enters: those in service as they will be, and those prepared before
 * it. */
static struct shares_context site_to_be(
	struct group_addition *a, const struct service_group *const to_be[SERVER_MAX_GROUPS]) {
	struct server *s = a->server;
	struct shares_context site = server_shares_context(s);

	site.groups.count = s->group_max;
	for (unsigned g = 0; g < s->group_max; g++) {
		site.groups.list[g] = s->groups[g].sg;
		if (to_be != NULL && to_be[g] != NULL && s->groups[g].sg != NULL)
			site.groups.list[g] = to_be[g];
	}
	site.groups.list[a->group] = a->sg;
	return site;
}

static bool addition_prepare(struct group_addition *a,
			     const struct service_group *const to_be[SERVER_MAX_GROUPS]) {
	if (!addition_ports(a) || !addition_buffers(a))
		return false;
	a->site = site_to_be(a, to_be);
	return addition_shares(a) && addition_group(a) && addition_lists(a);
}

struct group_addition *server_group_prepare(
	struct server *s, const struct service_group *sg,
	const struct service_group *const to_be[SERVER_MAX_GROUPS], char why[LIVE_LINE]) {
	struct group_addition *a = calloc(1, sizeof(*a));

	if (a == NULL) {
		snprintf(why, LIVE_LINE, "service group %u: no memory left", sg->id);
		return NULL;
	}
	*a = (struct group_addition){
		.server = s, .sg = sg, .why = why, .providers = s->crypto.count};
	if (!addition_slot(a)) {
		free(a);
		return NULL;
	}
	if (addition_prepare(a, to_be))
		return a;
	server_group_abandon(a);
	return NULL;
}
