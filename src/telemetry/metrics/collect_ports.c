/* SPDX-License-Identifier: BSD-3-Clause */
/* Of ports: what drivers count, and of those that groups share who the packets were for. */
#include <string.h>

#include <rte_ethdev.h>

#include "telemetry/metrics/walk.h"
#include "telemetry/metrics/which.h"

/* A device that came back while a group still has it as it was is there twice. Whether a port is not the one to tell of:
 * another is open under its name, or is gone as well and stands before it. Among those that groups share, or all. */
static bool is_told_by_another(const struct server *s, unsigned port, bool shared) {
	const struct server_port *list = s->ports.list;

	for (unsigned p = 0; p < s->ports.count && !list[port].open; p++) {
		if (p != port && (!shared || s->shares.of[p] != NULL) &&
		    (list[p].open || (list[p].state == SERVER_PORT_GONE && p < port)) &&
		    strcmp(list[p].name, list[port].name) == 0)
			return true;
	}
	return false;
}

/* Calls `put` for each port that groups share. */
static void shares_walk(const struct walk *w, const struct metric_row *row,
			void (*put)(const struct walk *w, const struct metric_row *row,
				    const struct counters *all, const char *port)) {
	const struct server *s = w->source->server;

	for (unsigned p = 0; p < s->ports.count; p++) {
		struct counters all;

		if (s->shares.of[p] == NULL || is_told_by_another(s, p, true))
			continue;
		share_counters(s->shares.of[p], &all);
		put(w, row, &all, s->ports.list[p].name);
	}
}

static void put_port_counter(const struct walk *w, const struct metric_row *row,
			     const struct counters *all, const char *port) {
	walk_put(w, row, all->values[row->which], LABELS(port));
}

void collect_port_counter(const struct walk *w, const struct metric_row *row) {
	shares_walk(w, row, put_port_counter);
}

static void put_port_drops(const struct walk *w, const struct metric_row *row,
			   const struct counters *all, const char *port) {
	for (enum drop_reason r = 0; r < DROP_REASONS; r++) {
		if (drop_in(r, DIRECTION_PORT))
			walk_put(w, row, all->drops[r], LABELS(port, drop_name(r)));
	}
}

void collect_port_drops(const struct walk *w, const struct metric_row *row) {
	shares_walk(w, row, put_port_drops);
}

static uint64_t ethdev_value(const struct rte_eth_stats *stats, unsigned which) {
	switch (which) {
	case ETHDEV_RECEIVED: return stats->ipackets;
	case ETHDEV_RECEIVED_BYTES: return stats->ibytes;
	case ETHDEV_MISSED: return stats->imissed;
	case ETHDEV_ERRORS: return stats->ierrors;
	case ETHDEV_NO_BUFFER: return stats->rx_nombuf;
	case ETHDEV_TRANSMITTED: return stats->opackets;
	case ETHDEV_TRANSMITTED_BYTES: return stats->obytes;
	default: return stats->oerrors;
	}
}

void collect_ethdev(const struct walk *w, const struct metric_row *row) {
	const struct server *s = w->source->server;

	for (unsigned p = 0; p < s->ports.count; p++) {
		const struct server_port *port = &s->ports.list[p];
		struct rte_eth_stats stats;
		uint64_t value;

		if ((!port->open && port->state != SERVER_PORT_GONE) ||
		    is_told_by_another(s, p, false))
			continue;
		if (row->which == ETHDEV_LINK)
			value = port->state == SERVER_PORT_UP;
		else if (server_port_stats(port, &stats))
			value = ethdev_value(&stats, row->which);
		else
			continue; /* net_gve of DPDK 22.11 counts nothing: no sample, rather than 0 */
		walk_put(w, row, value, LABELS(port->name, device_role_name(port->role)));
	}
}

static void put_states(const struct walk *w, const struct metric_row *row, const char *group,
		       const struct server_port *port) {
	for (enum server_port_state state = 0; state < SERVER_PORT_STATES; state++)
		walk_put(w, row, port->state == state,
			 LABELS(group, device_role_name(port->role), port->name,
				server_port_state_name(state)));
}

void collect_port_state(const struct walk *w, const struct metric_row *row) {
	const struct server *s = w->source->server;

	for (unsigned g = 0; g < w->group_count; g++) {
		size_t group = (size_t)(w->groups[g].served - s->groups);

		for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
			const struct server_port *port = server_port_of(&s->ports, group, role);

			if (port != NULL)
				put_states(w, row, w->groups[g].id, port);
		}
	}
}
