/* SPDX-License-Identifier: BSD-3-Clause */
/* Metrics of ports: driver statistics, and counters of shared ports. */
#include <string.h>

#include <rte_ethdev.h>

#include "telemetry/metrics/walk.h"

/* Selects the metric of a shared collector. */
enum {
	ETHDEV_RECEIVED,
	ETHDEV_RECEIVED_BYTES,
	ETHDEV_MISSED,
	ETHDEV_ERRORS,
	ETHDEV_NO_BUFFER,
	ETHDEV_TRANSMITTED,
	ETHDEV_TRANSMITTED_BYTES,
	ETHDEV_TRANSMIT_ERRORS,
	ETHDEV_LINK,
};

/*
 * If a device returns while a group still uses its former port, the device has two ports. Returns
 * whether another port of the same name represents the device: an open port, or else its first one.
 * `shared`: considers shared ports only.
 */
static bool is_duplicate(const struct server *s, unsigned port, bool shared) {
	const struct server_port *list = s->ports.list;

	for (unsigned p = 0; p < s->ports.count && !list[port].open; p++) {
		if (p != port && (!shared || s->shares.of[p] != NULL) &&
		    (list[p].open || (list[p].state == SERVER_PORT_GONE && p < port)) &&
		    strcmp(list[p].name, list[port].name) == 0)
			return true;
	}
	return false;
}

/* Calls `put` for each shared port. */
static void shares_walk(const struct walk *w, const struct metric_entry *entry,
			void (*put)(const struct walk *w, const struct metric_entry *entry,
				    const struct counters *all, const char *port)) {
	const struct server *s = w->source->server;

	for (unsigned p = 0; p < s->ports.count; p++) {
		struct counters all;

		if (s->shares.of[p] == NULL || is_duplicate(s, p, true))
			continue;
		share_counters(s->shares.of[p], &all);
		put(w, entry, &all, s->ports.list[p].name);
	}
}

static void put_port_counter(const struct walk *w, const struct metric_entry *entry,
			     const struct counters *all, const char *port) {
	walk_put(w, entry, all->values[entry->which], LABELS(port));
}

void collect_port_counter(const struct walk *w, const struct metric_entry *entry) {
	shares_walk(w, entry, put_port_counter);
}

static void put_port_drops(const struct walk *w, const struct metric_entry *entry,
			   const struct counters *all, const char *port) {
	for (enum drop_reason r = 0; r < DROP_REASONS; r++) {
		if (drop_in(r, DIRECTION_PORT))
			walk_put(w, entry, all->drops[r], LABELS(port, drop_name(r)));
	}
}

static void collect_port_drops(const struct walk *w, const struct metric_entry *entry) {
	shares_walk(w, entry, put_port_drops);
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

static void collect_ethdev(const struct walk *w, const struct metric_entry *entry) {
	const struct server *s = w->source->server;

	for (unsigned p = 0; p < s->ports.count; p++) {
		const struct server_port *port = &s->ports.list[p];
		struct rte_eth_stats stats;
		uint64_t value;

		if ((!port->open && port->state != SERVER_PORT_GONE) || is_duplicate(s, p, false))
			continue;
		if (entry->which == ETHDEV_LINK)
			value = port->state == SERVER_PORT_UP;
		else if (server_port_stats(port, &stats))
			value = ethdev_value(&stats, entry->which);
		else
			continue; /* net_gve of DPDK 22.11 does not count: no sample instead of 0 */
		walk_put(w, entry, value, LABELS(port->name, device_role_name(port->role)));
	}
}

static void put_states(const struct walk *w, const struct metric_entry *entry, const char *group,
		       const struct server_port *port) {
	for (enum server_port_state state = 0; state < SERVER_PORT_STATES; state++)
		walk_put(w, entry, port->state == state,
			 LABELS(group, device_role_name(port->role), port->name,
				server_port_state_name(state)));
}

static void collect_port_state(const struct walk *w, const struct metric_entry *entry) {
	const struct server *s = w->source->server;

	for (unsigned g = 0; g < w->group_count; g++) {
		size_t group = (size_t)(w->groups[g].served - s->groups);

		for (enum device_role role = 0; role < DEVICE_ROLES; role++) {
			const struct server_port *port = server_port_of(&s->ports, group, role);

			if (port != NULL)
				put_states(w, entry, w->groups[g].id, port);
		}
	}
}

static const struct metric_entry entries[] = {
	METRIC("vcmts_port_dropped_packets_total", COUNTER, "packets", PLAIN,
	       LABELLED("port", "reason"), collect_port_drops, 0,
	       "packets dropped at a shared port, by reason"),
	METRIC("vcmts_ethdev_received_packets_total", COUNTER, "packets", PLAIN,
	       LABELLED("port", "role"), collect_ethdev, ETHDEV_RECEIVED,
	       "packets that the port's driver received"),
	METRIC("vcmts_ethdev_received_bytes_total", COUNTER, "bytes", PLAIN,
	       LABELLED("port", "role"), collect_ethdev, ETHDEV_RECEIVED_BYTES,
	       "bytes that the port's driver received"),
	METRIC("vcmts_ethdev_missed_packets_total", COUNTER, "packets", PLAIN,
	       LABELLED("port", "role"), collect_ethdev, ETHDEV_MISSED,
	       "packets missed because no receive descriptor was free: no worker polled in time"),
	METRIC("vcmts_ethdev_errors_total", COUNTER, "", PLAIN, LABELLED("port", "role"),
	       collect_ethdev, ETHDEV_ERRORS, "packets that were received with an error"),
	METRIC("vcmts_ethdev_no_buffer_total", COUNTER, "", PLAIN, LABELLED("port", "role"),
	       collect_ethdev, ETHDEV_NO_BUFFER, "times that there was no buffer to receive into"),
	METRIC("vcmts_ethdev_transmitted_packets_total", COUNTER, "packets", PLAIN,
	       LABELLED("port", "role"), collect_ethdev, ETHDEV_TRANSMITTED,
	       "packets that the port's driver sent"),
	METRIC("vcmts_ethdev_transmitted_bytes_total", COUNTER, "bytes", PLAIN,
	       LABELLED("port", "role"), collect_ethdev, ETHDEV_TRANSMITTED_BYTES,
	       "bytes that the port's driver sent"),
	METRIC("vcmts_ethdev_transmit_errors_total", COUNTER, "", PLAIN, LABELLED("port", "role"),
	       collect_ethdev, ETHDEV_TRANSMIT_ERRORS,
	       "packets that the port's driver could not send"),
	METRIC("vcmts_ethdev_link_up", GAUGE, "", PLAIN, LABELLED("port", "role"), collect_ethdev,
	       ETHDEV_LINK, "1 if the port has a link, else 0"),
	METRIC("vcmts_port_state", GAUGE, "", OF_GROUP,
	       LABELLED("service_group", "role", "port", "state"), collect_port_state, 0,
	       "1 for the current state of a port of the group, else 0: up, down, gone (the "
	       "device was removed)"),
};
const struct metric_entries ports_metrics = METRIC_ENTRIES(entries);
