/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/shares.h"

#include <string.h>

/* The worker that sends to a port of that role for the group. */
static unsigned sender_of(const struct layout *layout, size_t group, enum device_role role) {
	const struct layout_group *at = &layout->groups[group];

	return role == DEVICE_RPHY ? at->lower : at->upstream;
}

unsigned server_share_owner(const struct server_ports *ports, const struct layout *layout,
			    unsigned port) {
	const struct layout_group *at = &layout->groups[ports->list[port].first];

	return ports->list[port].role == DEVICE_NETWORK ? at->upper : at->upstream;
}

/* The groups of the port by their places; NULL where a group does not have it. */
static void groups_of(const struct server_config *config, const struct server_ports *ports,
		      unsigned port, const struct service_group *groups[SHARE_MAX_GROUPS]) {
	for (size_t g = 0; g < config->group_count; g++) {
		bool has = ports->of[g][ports->list[port].role] == port;

		groups[g] = has ? &config->groups[g] : NULL;
	}
}

static bool sends_by_ring(const struct server_config *config, const struct server_ports *ports,
			  const struct layout *layout, unsigned port) {
	enum device_role role = ports->list[port].role;
	unsigned owner = server_share_owner(ports, layout, port);

	for (size_t g = 0; g < config->group_count; g++) {
		bool sends = role == DEVICE_RPHY || layout_has_upstream(&config->groups[g]);

		if (ports->of[g][role] == port && sends && sender_of(layout, g, role) != owner)
			return true;
	}
	return false;
}

/* Of a control port nothing is received, and where no group has an upstream none of UEPI. */
static bool receives(const struct server_config *config, const struct server_ports *ports,
		     unsigned port) {
	for (size_t g = 0; g < config->group_count; g++) {
		if (ports->list[port].role == DEVICE_RPHY && ports->of[g][DEVICE_RPHY] == port &&
		    layout_has_upstream(&config->groups[g]))
			return true;
	}
	return ports->list[port].role == DEVICE_NETWORK;
}

static int share_make(struct server_shares *s, const struct server_config *config,
		      const struct server_ports *ports, const struct layout *layout,
		      unsigned port) {
	const struct service_group *groups[SHARE_MAX_GROUPS] = {NULL};
	bool is_read = receives(config, ports, port);
	struct share_config c = {
		.name = server_port_name(ports->list[port].role),
		.side = ports->list[port].role == DEVICE_RPHY ? SHARE_RPHY : SHARE_NETWORK,
		.from = {.port = ports->list[port].id},
		.to = {.port = ports->list[port].id},
		.sends_by_ring = sends_by_ring(config, ports, layout, port),
		.ring_size = server_share_ring(config->group_count),
		.groups = groups,
		.group_count = is_read ? (unsigned)config->group_count : 0,
	};

	groups_of(config, ports, port, groups);
	s->of[port] = share_create(&c);
	return s->of[port] == NULL ? -1 : 0;
}

int server_shares_create(struct server_shares *s, const struct server_config *config,
			 const struct server_ports *ports, const struct layout *layout,
			 struct worker *workers) {
	for (unsigned p = 0; p < ports->count; p++) {
		/* in a replay groups were given one port in the place of their own */
		if (!ports->list[p].shared || !ports->list[p].open)
			continue;
		if (share_make(s, config, ports, layout, p) != 0)
			return -1;
		if (receives(config, ports, p) &&
		    worker_add(&workers[server_share_owner(ports, layout, p)],
			       &s->of[p]->receiving) != 0)
			return -1;
	}
	return 0;
}

int server_shares_send(struct server_shares *s, const struct server_ports *ports,
		       const struct layout *layout, struct worker *workers) {
	for (unsigned p = 0; p < ports->count; p++) {
		if (s->of[p] != NULL && s->of[p]->send.ring != NULL &&
		    worker_add(&workers[server_share_owner(ports, layout, p)],
			       &s->of[p]->sending) != 0)
			return -1;
	}
	return 0;
}

struct packet_source server_source(const struct server_shares *s, const struct server_ports *ports,
				   size_t group, enum device_role role) {
	unsigned port = ports->of[group][role];

	if (s->of[port] != NULL && s->of[port]->lanes[group].ring != NULL)
		return share_source(s->of[port], (unsigned)group);
	return (struct packet_source){.port = ports->list[port].id};
}

struct packet_sink server_sink(const struct server_shares *s, const struct server_ports *ports,
			       size_t group, enum device_role role) {
	unsigned port = ports->of[group][role];

	if (port == SERVER_NO_PORT || !ports->list[port].open)
		return (struct packet_sink){.port = PACKET_NO_PORT};
	return s->of[port] != NULL ? share_sink(s->of[port])
				   : (struct packet_sink){.port = ports->list[port].id};
}

uint64_t server_shares_held_in(const struct server_shares *s) {
	uint64_t held = 0;

	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++)
		held += s->of[p] != NULL ? share_held_in(s->of[p]) : 0;
	return held;
}

uint64_t server_shares_held_out(const struct server_shares *s) {
	uint64_t held = 0;

	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++)
		held += s->of[p] != NULL ? share_held_out(s->of[p]) : 0;
	return held;
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

void server_shares_account(struct server_shares *s, bool on) {
	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++) {
		if (s->of[p] == NULL)
			continue;
		s->of[p]->receiving.accounting = on;
		s->of[p]->sending.accounting = on;
	}
}

void server_shares_free(struct server_shares *s) {
	for (unsigned p = 0; p < SERVER_PORTS_MAX; p++)
		share_free(s->of[p]);
	memset(s, 0, sizeof(*s));
}
