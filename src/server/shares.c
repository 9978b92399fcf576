/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/shares.h"

#include <string.h>

#include "platform/log/log.h"
#include "sharing/steered.h"

/* misdirected packets: those that groups found in their queues, to be distributed again */
#define SHARE_MISDIRECTED 1024

/* The worker that sends to a port of that role for the group. */
static unsigned sender_of(const struct layout *layout, size_t group, enum device_role role) {
	const struct layout_group *at = &layout->groups[group];

	return role == DEVICE_RPHY ? at->lower : at->upstream;
}

static bool sends_to(const struct service_group *sg, enum device_role role) {
	return role == DEVICE_RPHY || layout_has_upstream(sg);
}

/* Control ports receive nothing, and a group without an upstream receives no UEPI. */
bool server_share_is_polled(const struct service_group *sg, enum device_role role) {
	return role == DEVICE_NETWORK || (role == DEVICE_RPHY && layout_has_upstream(sg));
}

unsigned server_share_owner(const struct server_ports *ports, const struct layout *layout,
			    unsigned port) {
	const struct server_port *p = &ports->list[port];
	const struct layout_group *at = &layout->groups[p->first];

	return p->role == DEVICE_NETWORK ? at->upper : at->upstream;
}

/* The groups of the port by slot; NULL for groups that do not use it. */
static struct group_slots groups_of(const struct shares_context *site, unsigned port) {
	struct group_slots groups = site->groups;

	for (size_t g = 0; g < groups.count; g++) {
		if (site->ports->of[g][site->ports->list[port].role] != port)
			groups.list[g] = NULL;
	}
	return groups;
}

static bool sends_by_ring(const struct shares_context *site, const struct group_slots *groups,
			  enum device_role role, unsigned owner) {
	for (size_t g = 0; g < groups->count; g++) {
		if (groups->list[g] != NULL && sends_to(groups->list[g], role) &&
		    sender_of(site->layout, g, role) != owner)
			return true;
	}
	return false;
}

static bool is_read(const struct group_slots *groups, enum device_role role) {
	for (size_t g = 0; g < groups->count; g++) {
		if (groups->list[g] != NULL && server_share_is_polled(groups->list[g], role))
			return true;
	}
	return false;
}

bool server_share_is_polled_for_any(const struct shares_context *site, unsigned port) {
	struct group_slots groups = groups_of(site, port);

	return is_read(&groups, site->ports->list[port].role);
}

static enum share_side side_of(enum device_role role) {
	return role == DEVICE_RPHY ? SHARE_RPHY : SHARE_NETWORK;
}

int server_share_make(struct server_shares *s, const struct shares_context *site, unsigned port,
		      char why[LIVE_LINE]) {
	const struct server_port *p = &site->ports->list[port];
	struct group_slots groups = groups_of(site, port);
	unsigned owner = server_share_owner(site->ports, site->layout, port);
	struct share_config c = {
		.name = device_role_title(p->role),
		.side = side_of(p->role),
		.from = {.port = p->id},
		.to = packet_sink_port(p->id),
		.sends_by_ring = sends_by_ring(site, &groups, p->role, owner),
		.ring_size = server_share_ring(site->max),
		.groups = groups.list,
		.group_count = is_read(&groups, p->role) ? groups.count : 0,
	};

	s->owners[port] = s->planned[port] = owner;
	s->of[port] = share_create(&c, why);
	if (s->of[port] == NULL ||
	    (p->queues > 0 && c.group_count > 0 &&
	     share_misdirected_open(s->of[port], p->queues, SHARE_MISDIRECTED) != 0))
		return -1;
	for (unsigned g = 0; g < c.group_count; g++) {
		if (groups.list[g] != NULL)
			server_share_queue(s, site->ports, port, g, groups.list[g]);
	}
	return 0;
}

/* The queue of a group is its slot + 1; queue 0 belongs to the port owner. */
void server_share_queue(struct server_shares *s, const struct server_ports *ports, unsigned port,
			unsigned group, const struct service_group *sg) {
	if (group < ports->list[port].queues && s->of[port]->misdirected != NULL)
		share_queue_open(s->of[port], group, sg, (uint16_t)(group + 1));
}

void server_share_end(struct server_shares *s, unsigned port, struct counters *removed) {
	struct counters all;

	share_stop(s->of[port]);
	share_counters(s->of[port], &all);
	counters_add(removed, &all);
	share_free(s->of[port]);
	s->of[port] = NULL;
}

static int list_add(const struct server_shares *s, struct worker *workers, unsigned port,
		    struct pipeline *list, enum worker_position position) {
	struct worker *owner = &workers[s->owners[port]];

	if (worker_reserve(owner, 1) != 0)
		return -1;
	worker_insert(owner, list, position);
	return 0;
}

int server_share_receive(struct server_shares *s, struct worker *workers, unsigned port) {
	if (!s->receives[port] &&
	    list_add(s, workers, port, &s->of[port]->receiving, WORKER_FIRST) != 0)
		return -1;
	s->receives[port] = true;
	return 0;
}

int server_share_send(struct server_shares *s, struct worker *workers, unsigned port,
		      unsigned ring) {
	if (share_send_open(s->of[port], ring) != 0)
		return -1;
	if (!s->sends[port] && list_add(s, workers, port, &s->of[port]->sending, WORKER_LAST) != 0)
		return -1;
	s->sends[port] = true;
	return 0;
}

void server_share_send_undo(struct server_shares *s, struct worker *workers, unsigned port) {
	worker_remove(&workers[s->owners[port]], &s->of[port]->sending);
	s->sends[port] = false;
	share_send_close(s->of[port]);
}

void server_share_stop(struct server_shares *s, struct worker *workers, unsigned port) {
	worker_remove(&workers[s->owners[port]], &s->of[port]->receiving);
	worker_remove(&workers[s->owners[port]], &s->of[port]->sending);
	s->receives[port] = s->sends[port] = false;
}

struct share_table *server_share_table(const struct shares_context *site, unsigned port,
				       char why[LIVE_LINE]) {
	enum device_role role = site->ports->list[port].role;
	struct group_slots groups = groups_of(site, port);

	return share_table_create(device_role_title(role), side_of(role), groups.list,
				  is_read(&groups, role) ? groups.count : 0, why);
}

int server_shares_create(struct server_shares *s, const struct shares_context *site) {
	char why[LIVE_LINE];

	for (unsigned p = 0; p < site->ports->count; p++) {
		const struct server_port *port = &site->ports->list[p];

		/* in a replay, groups may share one port in place of their own */
		if (!port->shared || !port->open)
			continue;
		if (server_share_make(s, site, p, why) != 0) {
			if (why[0] != '\0')
				log_error("port", LOG_NO_FIELDS, "%s", why);
			return -1;
		}
		if (server_share_is_polled_for_any(site, p) &&
		    server_share_receive(s, site->workers, p) != 0)
			return -1;
	}
	return 0;
}

int server_shares_send(struct server_shares *s, const struct shares_context *site) {
	unsigned ring = server_share_ring(site->max);

	for (unsigned p = 0; p < site->ports->count; p++) {
		if (s->of[p] != NULL && s->of[p]->send.ring != NULL &&
		    server_share_send(s, site->workers, p, ring) != 0)
			return -1;
	}
	return 0;
}

struct packet_source server_source(const struct server_shares *s, const struct server_ports *ports,
				   size_t group, enum device_role role) {
	unsigned port = ports->of[group][role];

	if (s->of[port] != NULL && s->of[port]->members[group].ring != NULL)
		return share_source(s->of[port], (unsigned)group);
	return (struct packet_source){.port = ports->list[port].id};
}

struct packet_sink server_sink(const struct server_shares *s, const struct server_ports *ports,
			       size_t group, enum device_role role) {
	unsigned port = ports->of[group][role];
	enum drop_reason reason;

	if (port == SERVER_NO_PORT)
		return (struct packet_sink){0};
	reason = server_port_shut(&ports->list[port]);
	if (reason != DROP_NONE || !ports->list[port].open)
		return (struct packet_sink){.shut = reason != DROP_NONE,
					    .reason = (uint16_t)reason};
	return s->of[port] != NULL ? share_sink(s->of[port])
				   : packet_sink_port(ports->list[port].id);
}

uint64_t server_shares_pending_in(const struct server_shares *s) {
	uint64_t pending = 0;

	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++)
		pending += s->of[p] == NULL
				   ? 0
				   : share_pending_in(s->of[p]) + share_misdirected(s->of[p]);
	return pending;
}

uint64_t server_shares_pending_out(const struct server_shares *s) {
	uint64_t pending = 0;

	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++)
		pending += s->of[p] != NULL ? share_pending_out(s->of[p]) : 0;
	return pending;
}

bool server_shares_balanced(const struct server_shares *s) {
	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++) {
		if (s->of[p] != NULL && !share_balanced(s->of[p]))
			return false;
	}
	return true;
}

void server_shares_close(struct server_shares *s) {
	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++) {
		if (s->of[p] != NULL)
			share_close(s->of[p]);
	}
}

void server_shares_run_misdirected(struct server_shares *s) {
	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++) {
		if (s->of[p] != NULL && share_misdirected(s->of[p]) > 0)
			pipeline_run(&s->of[p]->receiving);
	}
}

void server_shares_run_sending(struct server_shares *s) {
	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++) {
		if (s->of[p] != NULL && s->of[p]->send.ring != NULL)
			pipeline_run(&s->of[p]->sending);
	}
}

void server_shares_stop(struct server_shares *s) {
	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++) {
		if (s->of[p] != NULL)
			share_stop(s->of[p]);
	}
}

void server_shares_free(struct server_shares *s) {
	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++)
		share_free(s->of[p]);
	memset(s, 0, sizeof(*s));
}
