/* SPDX-License-Identifier: BSD-3-Clause */
/* Of ports: what drivers count, and of those that groups share who the packets were for. */
#include <rte_ethdev.h>

#include "metrics/walk.h"
#include "metrics/which.h"

/* As DPDK calls it, without the arguments of a virtual device. Returns `name`. */
static const char *name_of(const struct server_port *port, char name[RTE_ETH_NAME_MAX_LEN]) {
	if (!port->open || rte_eth_dev_get_name_by_port(port->id, name) != 0)
		name[0] = '\0';
	return name;
}

/* Calls `put` for each port that groups share. */
static void shares_walk(const struct walk *w, const struct metric_row *row,
			void (*put)(const struct walk *w, const struct metric_row *row,
				    const struct counters *all, const char *port)) {
	const struct server *s = w->source->server;

	for (unsigned p = 0; p < s->ports.count; p++) {
		char name[RTE_ETH_NAME_MAX_LEN];
		struct counters all;

		if (s->shares.of[p] == NULL)
			continue;
		share_counters(s->shares.of[p], &all);
		put(w, row, &all, name_of(&s->ports.list[p], name));
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

static uint64_t link_up(uint16_t port) {
	struct rte_eth_link link = {0};

	return rte_eth_link_get_nowait(port, &link) == 0 && link.link_status == RTE_ETH_LINK_UP;
}

static uint64_t ethdev_value(uint16_t port, unsigned which) {
	struct rte_eth_stats stats = {0};

	if (which == ETHDEV_LINK)
		return link_up(port);
	rte_eth_stats_get(port, &stats);
	switch (which) {
	case ETHDEV_RECEIVED: return stats.ipackets;
	case ETHDEV_RECEIVED_BYTES: return stats.ibytes;
	case ETHDEV_MISSED: return stats.imissed;
	case ETHDEV_ERRORS: return stats.ierrors;
	case ETHDEV_NO_BUFFER: return stats.rx_nombuf;
	case ETHDEV_TRANSMITTED: return stats.opackets;
	case ETHDEV_TRANSMITTED_BYTES: return stats.obytes;
	default: return stats.oerrors;
	}
}

void collect_ethdev(const struct walk *w, const struct metric_row *row) {
	static const char *const roles[DEVICE_ROLES] = {
		[DEVICE_NETWORK] = "network",
		[DEVICE_RPHY] = "rphy",
		[DEVICE_CONTROL] = "control",
	};
	const struct server *s = w->source->server;

	for (unsigned p = 0; p < s->ports.count; p++) {
		const struct server_port *port = &s->ports.list[p];
		char name[RTE_ETH_NAME_MAX_LEN];

		if (port->open)
			walk_put(w, row, ethdev_value(port->id, row->which),
				 LABELS(name_of(port, name), roles[port->role]));
	}
}
