/* SPDX-License-Identifier: BSD-3-Clause */
#include "server/groups.h"

#include "server/running.h"

struct group_slots server_slots(const struct server *s) {
	struct group_slots slots = {.count = s->group_count};

	for (unsigned g = 0; g < s->group_count; g++)
		slots.list[g] = s->groups[g].in_service ? s->groups[g].sg : NULL;
	return slots;
}

struct shares_context server_shares_context(struct server *s) {
	return (struct shares_context){
		.ports = &s->ports,
		.layout = &s->layout,
		.workers = s->workers,
		.groups = server_slots(s),
		.max = s->group_max,
	};
}

/* On a shared port, the ring may still have packets. */
static bool is_removed(const struct server *s, unsigned group, enum device_role role,
		       const struct packet_source *from) {
	const struct server_port *port = server_port_of(&s->ports, group, role);

	return port != NULL && port->state == SERVER_PORT_GONE && from->ring == NULL;
}

struct group_endpoints server_group_endpoints(const struct server *s, unsigned group) {
	const struct served_group *g = &s->groups[group];
	struct group_endpoints w = {
		.from_network = server_source(&s->shares, &s->ports, group, DEVICE_NETWORK),
		.from_rphy = server_source(&s->shares, &s->ports, group, DEVICE_RPHY),
		.to_network = server_sink(&s->shares, &s->ports, group, DEVICE_NETWORK),
		.to_rphy = server_sink(&s->shares, &s->ports, group, DEVICE_RPHY),
		.to_control = server_sink(&s->shares, &s->ports, group, DEVICE_CONTROL),
	};

	if (g->drained || is_removed(s, group, DEVICE_NETWORK, &w.from_network))
		w.from_network = (struct packet_source){.ring = s->empty_ring};
	if (g->drained || is_removed(s, group, DEVICE_RPHY, &w.from_rphy))
		w.from_rphy = (struct packet_source){.ring = s->empty_ring, .emptied = &g->emptied};
	return w;
}

void server_group_connect(struct server *s, unsigned group) {
	struct group_endpoints w = server_group_endpoints(s, group);

	served_group_connect(&s->groups[group], &w);
}

int server_group_make(struct server *s, unsigned group, const struct service_group *sg) {
	const struct layout_group *at = &s->layout.groups[group];
	struct group_resources r = {
		.endpoints = server_group_endpoints(s, group),
		.pools = &s->pools,
		.linear =
			server_port_needs_linear(sg, server_port_of(&s->ports, group, DEVICE_RPHY)),
		.queued_max = server_queued_max(s->config, sg),
		.hand_over_max = server_hand_over_max(s->config),
		.pending_max = server_pending_max(s->config, sg),
		.in_flight_max = server_in_flight_max(s->config),
		.provider = crypto_providers_find(&s->crypto, sg->crypto.device),
		.upper = &s->workers[at->upper],
		.lower = &s->workers[at->lower],
		.upstream = &s->workers[at->upstream],
	};

	if (r.provider == NULL || served_group_create(&s->groups[group], sg, &r) != 0)
		return -1;
	if (server_runs(s) && s->groups[group].upstream != NULL)
		upstream_follow_clock(s->groups[group].upstream);
	return 0;
}

void server_name_workers(struct server *s) {
	struct group_slots slots = server_slots(s);

	for (unsigned w = 0; w < s->worker_count; w++)
		layout_name(&s->layout, &slots, w, s->workers[w].name, sizeof(s->workers[w].name));
	server_wakes_set(s, false);
}
